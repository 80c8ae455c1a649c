import CCurl
import Glibc

/// The way back from libcurl: C callbacks that find their transfer and tell it. Every pointer ends here.
///
/// They are top-level functions rather than closures: a closure passed to C may inherit an isolation that is checked,
/// fatally, on the thread it runs on.
extension EasyHandle {
    /// Makes `transfer` the one that is told. It must outlive the transfer inside libcurl: the loop holds it. What
    /// becomes of its socket afterwards is told to `connections`, which must outlive the multi handle.
    func report(to transfer: ActiveTransfer, _ connections: SocketRegistry) throws(TransferError) {
        let context = UnsafeRawPointer(Unmanaged.passUnretained(transfer).toOpaque())
        let whereItIsKept = [
            CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA, CURLOPT_PRIVATE,
        ]
        for option in whereItIsKept { try set(option, pointer: context) }
        try check(ccurl_easy_set_data_callback(raw, CURLOPT_WRITEFUNCTION, bodyArrived))
        try check(ccurl_easy_set_data_callback(raw, CURLOPT_HEADERFUNCTION, headLineArrived))
        try check(ccurl_easy_set_socket_callback(raw, socketNeeded))
        try check(ccurl_easy_set_prereq_callback(raw, requestReady))
        try set(CURLOPT_CLOSESOCKETDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(connections).toOpaque()))
        try check(ccurl_easy_set_close_callback(raw, socketUnneeded))
    }

    /// The transfer that a handle, as libcurl reports it, was made to tell.
    static func transfer(behind raw: OpaquePointer?) -> ActiveTransfer? {
        var context: UnsafeMutableRawPointer?
        guard let raw, ccurl_easy_get_private(raw, &context) == CURLE_OK, let context else { return nil }
        return transfer(at: context)
    }

    fileprivate static func transfer(at context: UnsafeMutableRawPointer) -> ActiveTransfer {
        Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue()
    }
}

/// Anything but the number of bytes given makes libcurl end the transfer; also for an empty piece, hence not zero.
private let abort = Int.max

private func bodyArrived(
    _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return abort }
    let bytes = UnsafeRawBufferPointer(start: start, count: size * count)
    switch EasyHandle.transfer(at: context).received(body: bytes) {
    case .taken: return bytes.count
    case .pause: return Int(CURL_WRITEFUNC_PAUSE)
    case .abort: return abort
    }
}

private func headLineArrived(
    _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return abort }
    let line = UnsafeRawBufferPointer(start: start, count: size * count)
    return EasyHandle.transfer(at: context).received(headLine: line) ? line.count : abort
}

private func socketNeeded(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    let refused: curl_socket_t = -1
    guard let context, let address else { return refused }
    let transfer = EasyHandle.transfer(at: context)
    guard transfer.admits(IPAddress(of: address)) else { return refused }
    let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.pointee.family, kind, address.pointee.protocol)
    transfer.socketOpened(descriptor, errno: errno)
    return descriptor
}

private func socketUnneeded(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context { Unmanaged<SocketRegistry>.fromOpaque(context).takeUnretainedValue().closed(descriptor) }
    return close(descriptor)
}

private func requestReady(
    _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let context, let remoteAddress, let localAddress else { return CURL_PREREQFUNC_ABORT }
    let ends = SocketRegistry.Endpoints(
        localAddress: String(cString: localAddress), localPort: localPort,
        remoteAddress: String(cString: remoteAddress), remotePort: remotePort)
    let isAdmitted = EasyHandle.transfer(at: context).connected(ends)
    return isAdmitted ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

extension IPAddress {
    /// `addr` is the head of a longer structure when the family needs one, hence read in place and never copied.
    fileprivate init?(of address: UnsafeMutablePointer<curl_sockaddr>) {
        // Of a stored property of an imported structure, so there is an offset.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        self.init(UnsafeRawPointer(address) + offset, length: Int(address.pointee.addrlen))
    }
}
