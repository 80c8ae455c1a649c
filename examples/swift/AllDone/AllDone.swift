import FetchdClient
import Foundation

/// Several downloads, and one "all done".
///
///     FETCHD_URL=http://127.0.0.1:8080 all-done [URL...]
///
/// Without URLs it only waits. fetchd reports the finish until it is acknowledged, also when one of them was killed in between.
@main enum AllDone {
    static func main() async throws {
        var configuration = BackgroundSessionConfiguration(
            service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
            token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"],
            stateFolder: FileManager.default.temporaryDirectory)
        configuration.finishDelay = 0.2
        let session = try BackgroundSession(identifier: "com.example.all-done", configuration: configuration)
        // Several tasks that start one after the other are one batch.
        for text in CommandLine.arguments.dropFirst() {
            _ = try await session.download(from: URL(string: text)!, key: text)
        }
        for try await batch in try await session.finished {
            print("all done: \(batch.outcome), \(batch.counts.succeeded) succeeded, \(batch.counts.failed) failed")
            try await session.acknowledge(batch)
            break
        }
    }
}
