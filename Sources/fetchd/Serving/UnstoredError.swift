/// The service has stopped, and the disk did not take everything that was to be stored.
struct UnstoredError: Error {}
