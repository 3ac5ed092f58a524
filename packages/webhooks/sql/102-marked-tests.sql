-- Whether a delivery was a test: it is marked as one again where it is repeated from the log.
alter table svc."__svc.webhooks.delivery_log" add column is_test boolean;
