import ArgumentParser
import Formats
import Glibc

struct SessionManifestCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "manifest", "Prints the finished files of a session with their digests.",
        discussion: """
            The format sha256sum is for 'sha256sum --check' in the downloads folder. The format tsv has the columns path, size, \
            sha256 and url, and 'fetchd import list' reads it. Files that were removed or replaced are left out.
            """,
        examples: "session manifest photos >SHA256SUMS", "session manifest --format tsv photos")

    @OptionGroup var session: SessionName

    @Option("The format: sha256sum or tsv. (default: sha256sum)", "format")
    var format: String?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", session.name, "manifest").query("format", format)
        let output = OutputDescriptor(number: STDOUT_FILENO, name: "Standard output")
        // The service looks at each file.
        _ = try await service.stream(service.request("GET", path, idle: .seconds(120))) { _ in
            true
        } chunk: { chunk in
            try chunk.withUnsafeBytes { try output.write($0) }
            return true
        }
    }
}
