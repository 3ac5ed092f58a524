export * from '@svc/receiver'
