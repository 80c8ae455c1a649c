/// The service has stopped, because another one has taken its PostgreSQL database. A new start waits until it is free.
public struct DatabaseTaken: Error {}
