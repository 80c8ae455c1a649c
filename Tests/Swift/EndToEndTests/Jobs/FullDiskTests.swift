import Formats
import Foundation
import TestKit
import Testing

/// A full disk: the service runs on a small file system, mounted in its own mount namespace.
@Suite(.enabled(if: MountNamespace.isPossible, "This machine gives ordinary users no file system of their own."))
struct FullDiskTests {
    private let first = Content.random(seed: 16, count: 2_000_000)
    private let second = Content.random(seed: 17, count: 2_000_000)

    private func stage() async throws -> (fetchd: FetchdProcess, origin: Origin) {
        let (folder, origin) = (try TemporaryFolder(), try Origin())
        let fetchd = try await FetchdProcess.start(.init(launcher: SmallDisk.launcher + [folder.path]), in: folder)
        origin.serve("/first", .file(first))
        origin.serve("/second", .file(second))
        return (fetchd, origin)
    }

    private func order(_ origin: Origin, _ path: String, _ members: JSONObject = [:]) -> JSON {
        JSON.object(["url": .string(origin.url(path)), "retry": ["max_attempts": 1]]).with(members)
    }

    /// This takes half a minute, as the service checks the free space every 30 seconds.
    @Test func waitsForSpaceAndContinuesByItself() async throws {
        let (fetchd, origin) = try await stage()
        let former = try await fetchd.api.submit(order(origin, "/first"))
        try await fetchd.api.waitForJob(former, .succeeded)
        let id = try await fetchd.api.submit(order(origin, "/second"))
        let waiting = try await fetchd.api.waitForJob(id, .waiting)
        #expect(waiting["reason"] == "space")
        #expect(waiting["attempts"] == 0)
        #expect(0...31 ~= (try #require(waiting["retry_at"].date).timeIntervalSinceNow))
        // Checking the space uses no attempt, however often.
        let until = waiting["retry_at"]
        try await fetchd.api.act(.resume, on: id)
        try await fetchd.api.waitForJob(id, toBe: "waiting again") {
            $0["reason"] == "space" && $0["retry_at"] != until
        }
        #expect(try await fetchd.api.delete("/v1/jobs/\(former)?file=delete").status == 204)
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["attempts"] == 1)
        #expect(try await fetchd.api.get("/v1/jobs/\(id)/file").body == second)
    }

    @Test func failsWithNoSpaceUnlessWaitingForSpace() async throws {
        let (fetchd, origin) = try await stage()
        let former = try await fetchd.api.submit(order(origin, "/first"))
        try await fetchd.api.waitForJob(former, .succeeded)
        let id = try await fetchd.api.submit(order(origin, "/second", ["wait_for": []]))
        let job = try await fetchd.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "no_space")
        #expect(try await fetchd.api.delete("/v1/jobs/\(former)?file=delete").status == 204)
        try await fetchd.api.act(.retry, on: id)
        try await fetchd.api.waitForJob(id, .succeeded)
    }

    /// Concurrent jobs do not take the space that one of them needs to finish: one finishes, the others wait.
    @Test func letsOneJobFinishWhileOthersWaitForSpace() async throws {
        let (fetchd, origin) = try await stage()
        var ids: [String] = []
        for index in 0..<4 {
            origin.serve("/slow\(index)", .file(first), .limited(bytesPerSecond: 2_000_000))
            ids.append(try await fetchd.api.submit(order(origin, "/slow\(index)")))
        }
        let jobs = try await eventually("one job to succeed and three to wait") {
            var jobs: [JSON] = []
            for id in ids { jobs.append(try await fetchd.api.job(id)) }
            let isSettled = jobs.allSatisfy { $0["state"] == "succeeded" || $0["state"] == "waiting" }
            return isSettled ? jobs : nil
        }
        #expect(jobs.filter { $0["state"] == "succeeded" }.count == 1)
        #expect(jobs.filter { $0["state"] == "waiting" }.allSatisfy { $0["reason"] == "space" })
    }

    /// The service leaves `--minimum-free-bytes` free on the disk.
    @Test func leavesMinimumFreeBytes() async throws {
        let (folder, origin) = (try TemporaryFolder(), try Origin())
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--minimum-free-bytes", "1500000"], launcher: SmallDisk.launcher + [folder.path]),
            in: folder)
        origin.serve("/first", .file(first))
        origin.serve("/second", .file(first), .chunked())
        for path in ["/first", "/second"] {
            let id = try await fetchd.api.submit(order(origin, path))
            #expect(try await fetchd.api.waitForJob(id, .waiting)["reason"] == "space")
        }
        let disk = try await fetchd.api.get("/v1/stats").json["disk"]
        #expect(try #require(disk["free_bytes"].integer) >= 1_200_000)
    }

    /// The size is unknown, so the disk fills during the download; the written bytes are kept.
    @Test func keepsPartAndWaitsForSpaceWhenDiskFillsDuringDownload() async throws {
        let (fetchd, origin) = try await stage()
        origin.serve("/first", .file(first), .chunked())
        origin.serve("/second", .file(second), .chunked())
        let former = try await fetchd.api.submit(order(origin, "/first"))
        try await fetchd.api.waitForJob(former, .succeeded)
        let id = try await fetchd.api.submit(order(origin, "/second"))
        let waiting = try await fetchd.api.waitForJob(id, .waiting)
        #expect(waiting["reason"] == "space")
        #expect(try #require(waiting["progress"]["bytes_durable"].integer) > 0)
        #expect(try await fetchd.api.delete("/v1/jobs/\(former)?file=delete").status == 204)
        try await fetchd.api.act(.resume, on: id)
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["resume"]["decision"] == "resumed")
        #expect(try await fetchd.api.get("/v1/jobs/\(id)/file").body == second)
    }
}

private enum SmallDisk {
    /// Runs a program with `$0/downloads` on 3 MB of memory. The user namespace grants the right to mount; the
    /// parent-death signal has to be set again inside it.
    static let launcher = [
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        """
        mkdir -p "$0/downloads" && mount -t tmpfs -o size=3m tmpfs "$0/downloads" || exit 1
        exec setpriv --pdeathsig KILL -- "$@"
        """,
    ]
}
