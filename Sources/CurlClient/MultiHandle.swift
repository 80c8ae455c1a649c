import CCurl
import Glibc

/// The multi handle of libcurl: its connections, its DNS cache, and the sockets and timeouts that it waits for.
///
/// It is confined to one thread. Its two callbacks only record: they pass the interest in a descriptor to the poller
/// and store the next timeout. libcurl must not be called from inside them.
final class MultiHandle {
    /// The time at which libcurl must be called if no socket is ready; nil if it has no timeout.
    private(set) var deadline: ContinuousClock.Instant?
    private let poller: Poller
    private let connections: SocketRegistry
    private let handle: OpaquePointer

    init(poller: Poller, connections: SocketRegistry, maxIdleConnections: Int) throws(CurlClientError) {
        try CurlLibrary.initialise()
        guard let handle = curl_multi_init() else { throw .libraryUnavailable("no memory for a multi handle") }
        self.handle = handle
        self.poller = poller
        self.connections = connections
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_set_socket_callback(handle, socketInterestChanged)
        ccurl_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
        ccurl_multi_set_timer_callback(handle, timeoutChanged)
        ccurl_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
        ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, maxIdleConnections)
    }

    deinit {
        // libcurl calls back when it closes idle connections, but this object is being destroyed.
        ccurl_multi_set_socket_callback(handle, nil)
        ccurl_multi_set_timer_callback(handle, nil)
        curl_multi_cleanup(handle)
    }

    func add(_ easy: EasyHandle) -> CURLMcode { curl_multi_add_handle(handle, easy.raw) }

    func remove(_ easy: EasyHandle) { curl_multi_remove_handle(handle, easy.raw) }

    func act(on descriptor: Int32, _ interest: Poller.Interest) -> CURLMcode {
        var running: Int32 = 0
        let mask = (interest.contains(.read) ? CURL_CSELECT_IN : 0) | (interest.contains(.write) ? CURL_CSELECT_OUT : 0)
        return curl_multi_socket_action(handle, descriptor, mask, &running)
    }

    /// Calls libcurl for its timeouts. This also starts new transfers.
    func actOnTimeout() -> CURLMcode {
        deadline = nil
        var running: Int32 = 0
        let code = curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running)
        // libcurl reports a timeout only once. If this call came a fraction of a millisecond too early, the timeout
        // would be lost.
        var milliseconds = -1
        if deadline == nil, curl_multi_timeout(handle, &milliseconds) == CURLM_OK { recordTimeout(milliseconds) }
        return code
    }

    func nextCompletion() -> (ActiveTransfer, CURLcode)? {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(handle, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE,
                let transfer = EasyHandle.transfer(behind: message.pointee.easy_handle)
            else { continue }
            return (transfer, message.pointee.data.result)
        }
        return nil
    }

    fileprivate func recordInterest(in descriptor: Int32, _ what: Int32) {
        switch what {
        case CURL_POLL_IN: poller.watch(descriptor, for: .read)
        case CURL_POLL_OUT: poller.watch(descriptor, for: .write)
        case CURL_POLL_INOUT: poller.watch(descriptor, for: [.read, .write])
        default: poller.forget(descriptor)
        }
    }

    fileprivate func recordTimeout(_ milliseconds: Int) {
        deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
    }
}

// Top-level functions instead of closures. A closure that is passed to C may inherit the isolation of an actor, and the
// runtime check of that isolation would end the process.

private func socketInterestChanged(
    _: OpaquePointer?, _ descriptor: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().recordInterest(in: descriptor, what)
    return 0
}

private func timeoutChanged(_: OpaquePointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().recordTimeout(milliseconds)
    return 0
}

/// The global state of libcurl. It is initialised once and never released, because other threads may still use it.
enum CurlLibrary {
    private static let initialisation = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialise() throws(CurlClientError) {
        guard initialisation == CURLE_OK else { throw .libraryUnavailable(describe(initialisation)) }
    }

    /// Whether libcurl was built with the path of a file that contains the trusted certificates of the system.
    static let hasCertificateFile = curl_version_info(CURLVERSION_TENTH)?.pointee.cainfo != nil

    static func describe(_ code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}
