// The origin behind `rehearse:` URLs. It is a real server, reached over a real socket: whatever is rehearsed takes the
// very way of a real download, and a part of that way that would be left out could not be trusted.

import HTTPServer

/// An HTTP origin on this machine that serves made-up files in the way their URLs say.
///
/// It listens on 127.0.0.1 from its creation until ``stop()``. There is nothing in it to be kept from anybody: all it
/// gives away is made-up bytes.
public final class RehearsalOrigin: Sendable {
    /// Such as `http://127.0.0.1:4711`, for `Rehearsal.address(of:at:)`.
    public let baseURL: String
    private let server: HTTPServer

    public init() throws(HTTPServerError) {
        var options = HTTPServer.Options()
        // It only carries bytes from memory to memory, and mostly sleeps.
        options.threads = 1
        // Whoever rehearses may send as many headers as to a real origin, within reason.
        options.maxHeadBytes = 16 << 10
        // A download that waits for its disk stops reading for a while, which is no reason to hang up.
        options.idleTimeout = .seconds(600)
        server = try HTTPServer(options: options, handler: RehearsalHandler())
        baseURL = "http://127.0.0.1:\(server.port)"
    }

    /// Closes; files that are under way break off. Returns when the last socket is gone.
    public func stop() async {
        // Its answers are either there at once or streams, which a stop ends: nothing would use a time of grace.
        await server.stop(grace: .zero)
    }
}
