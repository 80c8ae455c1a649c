import FetchdClient
import Foundation

/// A download whose request is a POST with parameters.
///
///     FETCHD_URL=http://127.0.0.1:8080 post-parameters FOLDER URL NAME=VALUE...
@main enum PostParameters {
    static func main() async throws {
        let folder = URL(filePath: CommandLine.arguments[1])
        var request = DownloadRequest(url: URL(string: CommandLine.arguments[2])!)
        request.method = "POST"
        request.form = Dictionary(
            CommandLine.arguments.dropFirst(3).compactMap { parameter in
                guard let sign = parameter.firstIndex(of: "=") else { return nil }
                return (String(parameter[..<sign]), String(parameter[parameter.index(after: sign)...]))
            }, uniquingKeysWith: { $1 })
        let session = try BackgroundSession(
            identifier: "com.example.post",
            configuration: BackgroundSessionConfiguration(
                service: URL(string: ProcessInfo.processInfo.environment["FETCHD_URL"] ?? "http://127.0.0.1:8080")!,
                token: ProcessInfo.processInfo.environment["FETCHD_TOKEN"], stateFolder: folder))
        let download = try await session.download(request)
        let file = try await download.save(to: folder.appending(path: "answer"))
        print("saved \(file.size) bytes")
    }
}
