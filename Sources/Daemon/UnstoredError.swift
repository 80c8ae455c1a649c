/// The service has stopped, and the disk did not take everything that was to be stored. The log says what.
public struct UnstoredError: Error {}
