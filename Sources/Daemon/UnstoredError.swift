/// The service has stopped, and some changes could not be written to the disk. The log has the details.
public struct UnstoredError: Error {}
