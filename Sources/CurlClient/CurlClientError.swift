/// Why a client could not be made. What goes wrong with a transfer is a `TransferError`.
public enum CurlClientError: Error, Sendable, Equatable {
    /// libcurl refused to initialise, or had no memory for a handle.
    case libraryUnavailable(String)

    /// A system call that the loop needs failed: `epoll_create1`, `eventfd` or `pthread_create`.
    case systemCallFailed(String, errno: Int32)
}
