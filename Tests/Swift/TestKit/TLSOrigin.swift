import Glibc

/// An `Origin` behind TLS: every behaviour of a bad server, with persistent connections, under a certificate of the
/// test's choice.
///
/// A child process terminates TLS and forwards the content: a few lines of Python, as the project has no TLS server.
public final class TLSOrigin: Sendable {
    public static let isAvailable = ["/usr/bin/openssl", python].allSatisfy { (program: String) in
        access(program, X_OK) == 0
    }

    private static let python = "/usr/bin/python3"

    public let port: UInt16
    public let certificate: Certificate
    /// The origin behind it. `/` is served from the beginning.
    public let origin: Origin
    private let process: ChildProcess

    /// - Parameter certificate: nil for a self-signed one.
    public init(_ certificate: Certificate? = nil) async throws {
        origin = try Origin()
        origin.serve("/", .fixed(body: Array("Behind TLS.\n".utf8)))
        if let certificate {
            self.certificate = certificate
        } else {
            self.certificate = try await .selfSigned()
        }
        let process = try await ChildProcess(
            Self.python, ["-c", Self.program, self.certificate.path, self.certificate.keyPath, "\(origin.port)"])
        self.process = process
        port = try await eventually("the port of a TLS server") {
            if process.endingSoFar != nil { throw Overdue("A TLS server ended: \(process.errors)") }
            let output = process.output
            return output.hasSuffix("\n") ? UInt16(output.dropLast()) : nil
        }
    }

    public func url(_ path: String) -> String {
        "https://localhost:\(port)\(path)"
    }

    /// The certificate as a file, for clients that trust it.
    public var certificatePath: String { certificate.path }

    private static let program = """
        import asyncio, ssl, sys

        async def pump(source, sink):
            try:
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            except OSError:
                pass
            finally:
                sink.close()

        async def serve(reader, writer):
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[3]))
            await asyncio.gather(pump(reader, server_writer), pump(server_reader, writer))

        async def main():
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
            server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
            print(server.sockets[0].getsockname()[1], flush=True)
            await server.serve_forever()

        asyncio.run(main())
        """
}
