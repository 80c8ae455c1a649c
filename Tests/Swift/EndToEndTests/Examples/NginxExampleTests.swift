import Foundation
import TestKit
import Testing

/// examples/nginx.conf: the service on a Unix domain socket, behind nginx with TLS.
@Suite(.enabled("needs nginx: run scripts/setup") { NginxOrigin.isAvailable })
struct NginxExampleTests {
    @Test func servesCommandsThroughTLS() async throws {
        let (folder, origin) = (try TemporaryFolder(), try Origin())
        let socket = folder.path("fetchd.sock")
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--unix-socket", socket, "--public-host", "localhost"], token: "secret"))
        let certificate = try await Certificate.selfSigned(for: "localhost")
        let example = try String(contentsOfFile: Project.path("examples/nginx.conf"), encoding: .utf8)
        let proxy = try await NginxProxy(example: example, socket: socket, certificate: certificate)
        let bytes = Content.random(seed: 43, count: 3_000_000)
        origin.serve("/a.bin", .file(bytes))
        // The command waits with the event stream, and then reads the file.
        let got = try await ChildProcess.run(
            FetchdProcess.program, ["add", "--save", ".", origin.url("/a.bin")],
            environment: [
                "FETCHD_URL": "https://localhost:\(proxy.port)", "FETCHD_TOKEN": "secret",
                "FETCHD_CA_FILE": certificate.path, "HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
            ], workingFolder: folder.path)
        #expect(got.succeeded, "\(got.errors)")
        let isSame = folder.bytes(of: "a.bin") == bytes
        #expect(isSame)
        try await fetchd.stop()
    }
}
