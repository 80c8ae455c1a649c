import Formats
import TestKit
import Testing

/// Slow and silent servers.
extension TransferScenario {
    static let time = silence + crawl + noConnection

    /// The seconds for which a server may be silent in these rows.
    private static let patience: JSON = ["request_seconds": 2]

    private static let silence: [TransferScenario] = [
        .init("never answers") { try await $0.begin(.silent, with: ["timeouts": patience]) },
        .init("sends its head a byte at a time") {
            try await $0.begin(.slowHead(every: .milliseconds(5)), with: ["timeouts": patience])
        },
        .init("needs longer than `request_seconds` for a line of its head") {
            try await $0.begin(.slowHead(every: .milliseconds(200)), with: ["timeouts": patience])
        },
        .init("stalls half-way once") {
            try await $0.begin(.stalling(after: Trial.half).once, with: ["timeouts": patience])
        },
        .init("stalls half-way each time, no validators") {
            try await $0.begin(
                .stalling(after: Trial.half), from: .file($0.file, etag: nil), with: ["timeouts": patience])
        },
    ]

    private static let crawl: [TransferScenario] = [
        .init("sends 2 bytes a second, with `resource_seconds`") {
            try await $0.begin(
                .limited(bytesPerSecond: 2), with: ["timeouts": ["request_seconds": 2, "resource_seconds": 4]])
        },
        .init("sends 2 bytes a second, with `minimum_bytes_per_second`") { trial in
            try await trial.api.declareSession("brisk", ["minimum_bytes_per_second": 1000])
            return try await trial.begin(
                .limited(bytesPerSecond: 2), with: ["session": "brisk", "retry": ["max_attempts": 1]])
        },
    ]

    private static let noConnection: [TransferScenario] = [
        .init("refuses connections") { trial in
            let origin = try Origin()
            origin.stop()
            return try await trial.download(origin.url("/f"))
        },
        .init("does not take a connection within `connect_seconds`") { trial in
            let port = try UnresponsivePort()
            let ending = try await trial.download(
                "http://127.0.0.1:\(port.number)/f", with: ["timeouts": ["connect_seconds": 0.3]])
            #expect(ending.job["failure"]["message"].string?.contains("did not take the connection") == true)
            return ending
        },
    ]
}
