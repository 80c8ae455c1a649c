import Base
import CCurl
import Formats
import Glibc

/// The callbacks of libcurl. Each one finds the transfer behind its pointer and calls it.
///
/// They are top-level functions instead of closures. A closure that is passed to C may inherit the isolation of an
/// actor, and the runtime check of that isolation would end the process.
extension EasyHandle {
    /// Makes `transfer` receive the callbacks. It must outlive the transfer inside libcurl, so the loop holds it.
    /// `connections` receives the closing of the socket, and must outlive the multi handle.
    func report(to transfer: ActiveTransfer, _ connections: SocketRegistry) throws(TransferError) {
        let context = UnsafeRawPointer(Unmanaged.passUnretained(transfer).toOpaque())
        let contextOptions = [
            CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA, CURLOPT_PRIVATE,
        ]
        for option in contextOptions { try set(option, pointer: context) }
        try check(ccurl_easy_set_data_callback(raw, CURLOPT_WRITEFUNCTION, bodyArrived))
        try check(ccurl_easy_set_data_callback(raw, CURLOPT_HEADERFUNCTION, headLineArrived))
        try check(ccurl_easy_set_socket_callback(raw, socketNeeded))
        try check(ccurl_easy_set_prereq_callback(raw, requestReady))
        try set(CURLOPT_CLOSESOCKETDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(connections).toOpaque()))
        try check(ccurl_easy_set_close_callback(raw, socketUnneeded))
    }

    /// Sends a file as the body of the request, which holds the file.
    func readBody(from file: Descriptor) throws(TransferError) {
        try set(CURLOPT_READDATA, pointer: UnsafeRawPointer(Unmanaged.passUnretained(file).toOpaque()))
        try check(ccurl_easy_set_data_callback(raw, CURLOPT_READFUNCTION, bodyNeeded))
    }

    static func transfer(behind raw: OpaquePointer?) -> ActiveTransfer? {
        var context: UnsafeMutableRawPointer?
        guard let raw, ccurl_easy_get_private(raw, &context) == CURLE_OK, let context else { return nil }
        return transfer(at: context)
    }

    fileprivate static func transfer(at context: UnsafeMutableRawPointer) -> ActiveTransfer {
        Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue()
    }
}

/// A result other than the number of bytes ends the transfer. Zero would be the number of bytes of an empty piece.
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

private func bodyNeeded(
    _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return Int(CURL_READFUNC_ABORT) }
    let file = Unmanaged<Descriptor>.fromOpaque(context).takeUnretainedValue()
    while true {
        let length = read(file.number, start, size * count)
        if length >= 0 { return length }
        guard errno == EINTR else { return Int(CURL_READFUNC_ABORT) }
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
    /// `addr` is the beginning of a longer structure for some families, so it is read in place and not copied.
    fileprivate init?(of address: UnsafeMutablePointer<curl_sockaddr>) {
        // A stored property of an imported structure always has an offset.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        self.init(UnsafeRawPointer(address) + offset, length: Int(address.pointee.addrlen))
    }
}

extension Descriptor {
    /// The bytes from the position of a regular file to its end; nil for a pipe or a device.
    var restOfFile: Int64? {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int64(status.st_size) - Int64(lseek(number, 0, SEEK_CUR)))
    }
}
