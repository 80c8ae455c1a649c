import Formats
import Foundation
import TestKit
import Testing

/// Linux drops pages that it could not write, and the next sync succeeds without them. `EIO!` simulates that: the sync
/// fails once, and the bytes it should have made durable are gone.
@Suite struct FailedSyncTests {
    private let bytes = Content.random(seed: 31, count: 3_000_000)

    /// Three megabytes in fifteen seconds, so that a test acts while the bytes arrive.
    private static let slow = OriginBehaviour.limited(bytesPerSecond: 200_000)

    /// - Parameter closesParts: whether the service has so few descriptors that parts are not kept open. Then their syncs are those
    ///   of the file system.
    /// - Returns: a service whose disk has the given faults, and an origin that is slow at the first request.
    private func stage(
        _ faults: DiskFaults, closesParts: Bool = false
    ) async throws -> (fetchd: FetchdProcess, origin: Origin) {
        let origin = try Origin()
        let launcher = closesParts ? ["prlimit", "--nofile=200", "--"] : []
        let fetchd = try await FetchdProcess.start(.init(environment: faults.environment, launcher: launcher))
        for index in 0..<4 {
            origin.serve("/\(index)", .file(bytes), Self.slow.once)
        }
        return (fetchd, origin)
    }

    private func expectBytes(_ id: String, _ fetchd: FetchdProcess) async throws -> JSON {
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(fetchd.downloaded(try #require(job["file"]["path"].string)) == bytes, "\(job.written)")
        return job
    }

    @Test(arguments: [false, true]) func restartsAfterFirstSyncOfPartFails(closesParts: Bool) async throws {
        let faults = try await DiskFaults()
        let (fetchd, origin) = try await stage(faults, closesParts: closesParts)
        try faults.set(closesParts ? "syncfs * 1 1 EIO!" : "fdatasync .incomplete 1 1 EIO!")
        let job = try await expectBytes(fetchd.api.submit(["url": .string(origin.url("/0"))]), fetchd)
        #expect(faults.log.count == 1)
        #expect(job["resume"] == ["decision": "restarted", "why": "sync_failed", "offset": 0])
        #expect(job["attempts"] == 2)
        #expect(try await fetchd.partFilesAreRemoved())
    }

    @Test(arguments: [false, true]) func resumesFromLastCheckpointInNewPartAfterLaterSyncFails(closesParts: Bool)
        async throws
    {
        let faults = try await DiskFaults()
        let (fetchd, origin) = try await stage(faults, closesParts: closesParts)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/0"))])
        let promised = try await fetchd.api.waitForBytes(id, durable: true)["progress"]["bytes_durable"].integer
        try faults.set(closesParts ? "syncfs * 1 1 EIO!" : "fdatasync,fsync .part$ 1 1 EIO!")
        let job = try await expectBytes(id, fetchd)
        #expect(faults.log.count == 1)
        #expect(job["resume"]["decision"] == "resumed", "\(job.written)")
        #expect(job["resume"]["why"] == "sync_failed")
        #expect((job["resume"]["offset"].integer ?? 0) >= (promised ?? .max))
        let parts = Set(faults.log.compactMap { $0.split(separator: "/").last })
        #expect(parts.count == 1)
    }

    /// Three dirty parts share a syncfs: all of them are lost, also one that began while it failed.
    @Test func distrustsEveryPartOfFailedSyncfs() async throws {
        let faults = try await DiskFaults()
        let (fetchd, origin) = try await stage(faults)
        for index in 0..<4 { origin.serve("/\(index)", .file(bytes), Self.slow) }
        try faults.set("syncfs * 1 1 EIO!")
        var ids: [String] = []
        for index in 0..<4 { ids.append(try await fetchd.api.submit(["url": .string(origin.url("/\(index)"))])) }
        _ = try await eventually("the sync to fail") { faults.log.isEmpty ? nil : true }
        for id in ids { try await fetchd.api.waitForBytes(id, durable: true) }
        try await fetchd.kill()
        for index in 0..<4 { origin.serve("/\(index)", .file(bytes)) }
        try await fetchd.restart()
        for id in ids { _ = try await expectBytes(id, fetchd) }
    }

    /// The last sync of a part, before its promotion, fails.
    @Test(arguments: [false, true]) func promotesNoPartWhoseSyncFailed(closesParts: Bool) async throws {
        let faults = try await DiskFaults()
        let (fetchd, origin) = try await stage(faults, closesParts: closesParts)
        origin.serve("/small", .file(bytes))
        try faults.set(closesParts ? "syncfs * 1 1 EIO!" : "fdatasync,fsync .part$ 1 1 EIO!")
        let job = try await expectBytes(fetchd.api.submit(["url": .string(origin.url("/small"))]), fetchd)
        #expect(faults.log.count == 1)
        #expect(job["resume"]["why"] == "sync_failed")
    }

    @Test func keepsDurableBytesOfPausedJobWhoseLastSyncFails() async throws {
        let faults = try await DiskFaults()
        let (fetchd, origin) = try await stage(faults)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/0"))])
        try await fetchd.api.waitForBytes(id, durable: true)
        try faults.set("fdatasync .incomplete 1 1 EIO!")
        try await fetchd.api.act(.pause, on: id)
        let resumeData = try await fetchd.api.get("/v1/jobs/\(id)/resume-data").json
        let part = try #require(fetchd.folder.files.first { $0.hasSuffix(".part") })
        let durable = Int(try #require(resumeData["bytes_durable"].integer))
        #expect(fetchd.folder.bytes(of: part).map { Array($0.prefix(durable)) } == Array(bytes.prefix(durable)))
        try await fetchd.api.act(.resume, on: id)
        _ = try await expectBytes(id, fetchd)
    }
}
