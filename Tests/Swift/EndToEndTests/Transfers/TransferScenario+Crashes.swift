import Downloads
import Foundation
import TestKit
import Testing

/// nginx as a correct server, and kills of either program.
extension TransferScenario {
    static let crashes: [TransferScenario] = [
        .init("nginx", if: NginxOrigin.isAvailable) { trial in
            let nginx = try await NginxOrigin()
            try nginx.put(trial.file, at: trial.path)
            return try await trial.download(nginx.url(trial.path))
        },
        .init("nginx, killed half-way and started again", if: NginxOrigin.isAvailable) { trial in
            let nginx = try await NginxOrigin(.slow)
            try nginx.put(trial.file, at: trial.path)
            let id = try await trial.submit(
                nginx.url(trial.path), with: ["retry": ["base_seconds": 0.05, "max_attempts": 100]])
            try await trial.api.waitForBytes(id, atLeast: 1000)
            try await nginx.kill()
            _ = try await trial.api.waitForJob(id, toBe: "refused") { ($0["attempts"].integer ?? 0) > 2 }
            try await nginx.start()
            return try await trial.ending(of: id)
        },
        .init("nginx; fetchd is killed half-way and started again", if: NginxOrigin.isAvailable) {
            try await $0.killHalfWay(.slow)
        },
        .init("the same, without `ETag`s", if: NginxOrigin.isAvailable) { try await $0.killHalfWay(.slowWithoutETags) },
        .init("the same, and the file is replaced by one of the same length", if: NginxOrigin.isAvailable) { trial in
            try await trial.killHalfWay(.slow) { nginx in
                try nginx.put(trial.other, at: trial.path, modified: Date(timeIntervalSince1970: 1_566_230_000))
            }
        },
    ]
}

extension NginxOrigin.Options {
    /// Ten seconds for a file, so that there is a checkpoint, and a kill after it, before the end.
    fileprivate static let slow = NginxOrigin.Options(bytesPerSecond: Trial.size / 10)
    fileprivate static let slowWithoutETags = NginxOrigin.Options(bytesPerSecond: Trial.size / 10, sendsETags: false)
}

extension Trial {
    /// Kills the service when some bytes are durable, runs `event`, and restarts the service.
    fileprivate func killHalfWay(
        _ options: NginxOrigin.Options, _ event: (NginxOrigin) throws -> Void = { _ in }
    ) async throws -> Ending {
        let nginx = try await NginxOrigin(options)
        try nginx.put(file, at: path)
        let fetchd = try await FetchdProcess.start()
        let own = alone(fetchd)
        let id = try await own.submit(nginx.url(path))
        let before = try await own.api.waitForBytes(id, durable: true)
        try await fetchd.kill()
        try event(nginx)
        try await fetchd.restart()
        let ending = try await own.ending(of: id)
        // Durable bytes were kept.
        let promised = try #require(before["progress"]["bytes_durable"].integer)
        if ending.job["resume"]["decision"] == "resumed" {
            #expect(ending.job["resume"]["offset"].integer.map { $0 >= promised } == true)
        }
        return ending
    }
}
