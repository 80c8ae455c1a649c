import Foundation
import TestKit
import Testing

/// Downloads under a low limit on descriptors.
@Suite(.realProcess) struct DescriptorLimitTests {
    /// The parts of 150 jobs would need 600 descriptors, if they stayed open.
    @Test func moreJobsRunThanTheirPartsCouldStayOpen() async throws {
        let origin = try Origin()
        let bytes = Content.random(seed: 7, count: 60_000)
        let gate = Gate()
        origin.serve("/f", .file(bytes), .waiting(at: 30_000, for: gate))
        let fetchd = try await FetchdProcess.start(
            .init(
                arguments: ["--max-concurrent-jobs", "150", "--max-connections-per-host", "150"],
                launcher: ["prlimit", "--nofile=400", "--"]))
        #expect(!fetchd.log.contains("The limit on file descriptors"))
        for number in 0..<150 {
            _ = try await fetchd.api.submit([
                "url": .string(origin.url("/f")), "destination": ["filename": .string("\(number)")],
            ])
        }
        _ = try await eventually("all jobs to have received a half") {
            try await fetchd.api.session()["progress"]["bytes_received"].integer == 150 * 30_000 ? true : nil
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(fetchd.pid)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(fetchd.pid)/fd/\($0)")
        }
        #expect(files.count < 300)
        #expect(files.count { $0.hasSuffix(".part") } < 10)
        gate.open()
        _ = try await eventually("all jobs to succeed") {
            try await fetchd.api.session()["counts"]["succeeded"].integer == 150 ? true : nil
        }
        for number in 0..<150 { #expect(fetchd.downloaded("\(number)") == bytes) }
    }

    @Test func theLimitIsReportedIfItAllowsFewerJobs() async throws {
        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--max-concurrent-jobs", "500"], launcher: ["prlimit", "--nofile=256", "--"]))
        #expect(fetchd.log.contains("The limit on file descriptors allows 64 jobs at once, not 500."))
    }

    @Test func doctorReportsTheLimitIfItAllowsFewerJobs() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await ChildProcess.run(
            "prlimit",
            [
                "--nofile=256", "--", FetchdProcess.program, "doctor", "--data-dir", folder.path("data"),
                "--downloads-dir", folder.path("downloads"),
            ], environment: ["FETCHD_MAX_CONCURRENT_JOBS": "500"])
        #expect(outcome.output.contains("They suffice for 64 concurrent jobs, not for 500."), "\(outcome)")
    }
}
