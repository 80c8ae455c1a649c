import FetchdClient
import Foundation
import TestKit

/// A service at a fixed address, an origin, and sessions that use them.
struct Fixture {
    let fetchd: FetchdProcess
    let origin: Origin
    let folder: TemporaryFolder
    let bytes = Content.random(seed: 11, count: 300_000)

    init(token: String? = nil) async throws {
        fetchd = try await FetchdProcess.start(.init(token: token, keepsPort: true))
        origin = try Origin()
        folder = try TemporaryFolder()
    }

    func configuration(
        token: String? = nil, _ change: (inout BackgroundSessionConfiguration) -> Void = { _ in }
    ) -> BackgroundSessionConfiguration {
        var configuration = BackgroundSessionConfiguration(
            service: URL(string: fetchd.baseURL)!, token: token, stateFolder: URL(filePath: folder.path("state")))
        configuration.finishDelay = 0.2
        change(&configuration)
        return configuration
    }

    func session(
        _ name: String = "films", _ delegate: (any BackgroundSessionDelegate)? = nil, token: String? = nil,
        _ change: (inout BackgroundSessionConfiguration) -> Void = { _ in }
    ) throws -> BackgroundSession {
        try BackgroundSession(
            identifier: name, configuration: configuration(token: token, change), delegate: delegate)
    }

    func url(_ path: String) -> URL { URL(string: origin.url(path))! }
}
