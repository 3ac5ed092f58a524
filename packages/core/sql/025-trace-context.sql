-- The trace context of W3C of the span that published the event; null where nothing traces.
alter table svc."__svc.events" add column trace_context text;
