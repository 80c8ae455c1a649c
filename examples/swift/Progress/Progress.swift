import FetchdClient
import Foundation

/// One download, its progress, and the file.
///
///     FETCHD_URL=http://127.0.0.1:8080 progress FOLDER URL
///
/// Kill it or the service, and run it again: the URL is the key of the download, so it continues.
@main enum Progress {
    static func main() async throws {
        let folder = URL(filePath: CommandLine.arguments[1])
        let url = URL(string: CommandLine.arguments[2])!
        let session = try BackgroundSession(
            identifier: "com.example.progress",
            configuration: BackgroundSessionConfiguration(
                service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
                token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"], stateFolder: folder))
        let download = try await session.download(from: url, key: url.absoluteString)
        for try await progress in download {
            print("\(Int((progress.fraction ?? 0) * 100)) %, \(progress.bytesReceived) bytes")
        }
        let file = try await download.save(to: folder.appending(path: url.lastPathComponent))
        print("saved \(file.name), \(file.size) bytes, sha-256 \(file.sha256 ?? "not computed")")
    }
}
