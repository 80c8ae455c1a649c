import Formats
import Foundation
import TestKit
import Testing

/// SIGKILL at each call that changes the files of a location whose parts grow on another file system.
@Suite struct LocationCrashTests {
    private static let calls =
        "open,mkdir,write,pwrite64,writev,fdatasync,fsync,syncfs,ftruncate,fallocate,renameat2,linkat,unlink"

    @Test func nothingIsLostAndNothingIsHalfAtAnyCall() async throws {
        let (faults, folder) = (try await DiskFaults(), try TemporaryFolder())
        let incomplete = try TemporaryFolder(in: "/dev/shm")
        let origin = try Origin()
        let content = Content.random(seed: 5, count: 90_000)
        let options = FetchdProcess.Options(
            arguments: ["--location", "films=\(folder.path("films"))?incomplete=\(incomplete.path)"],
            environment: faults.environment)
        var call = 0
        var wasKilled = true
        while wasKilled {
            call += 1
            // The first path is that of the finished files, the second that of the parts.
            for place in ["/films", incomplete.path] {
                let name = "\(call)-\(place.count).bin"
                origin.serve("/\(name)", .file(content))
                let fetchd = try await FetchdProcess.start(options, in: folder)
                let id = try await fetchd.api.submit([
                    "url": .string(origin.url("/\(name)")), "destination": ["location": "films"], "state": "paused",
                ])
                try faults.set("\(Self.calls) \(place) \(call) \(call) KILL")
                // The service can be killed before it answers, and before it commits.
                _ = try? await fetchd.api.post("/v1/jobs/\(id)/resume")
                let isEnded = try await eventually("the job to end, or the service to be killed") { () -> Bool? in
                    guard fetchd.isRunning else { return false }
                    guard let job = try? await fetchd.api.job(id) else { return nil }
                    return job["state"] == "succeeded" ? true : nil
                }
                try faults.heal()
                if isEnded { try await fetchd.kill() }
                wasKilled = place == "/films" ? !isEnded : wasKilled || !isEnded
                try await fetchd.restart()
                _ = try await fetchd.api.post("/v1/jobs/\(id)/resume")
                let job = try await fetchd.api.waitForJob(id, .succeeded)
                #expect(job["file"]["path"].string == name, "call \(call) in \(place)")
                #expect(folder.bytes(of: "films/\(name)") == content, "call \(call) in \(place)")
                let ends = try await fetchd.api.events(of: id).filter { $0["type"] == "job.succeeded" }
                #expect(ends.count == 1, "call \(call) in \(place)")
                try await fetchd.stop()
                #expect((incomplete.files + folder.files).allSatisfy { !$0.contains("part_") }, "call \(call)")
            }
        }
        #expect(call > 8)
    }
}
