/// The reason why a client could not be created. Errors of a transfer are `TransferError`.
public enum CurlClientError: Error, Sendable, Equatable {
    /// libcurl refused to initialise, or had no memory for a handle.
    case libraryUnavailable(String)

    /// A system call that the loop needs failed: `epoll_create1`, `eventfd` or `pthread_create`.
    case systemCallFailed(String, errno: Int32)
}
