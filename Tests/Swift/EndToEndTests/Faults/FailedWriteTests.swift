import Foundation
import TestKit
import Testing

/// A write that the disk refuses, also of the last bytes of a file, after the server has sent all of them.
@Suite struct FailedWriteTests {
    @Test(arguments: ["EIO", "EDQUOT", "ENOSPC+"], [1, 2])
    func waitsInsteadOfPromotingFileWhoseLastWriteFailed(_ error: String, _ connections: Int64) async throws {
        let faults = try await DiskFaults()
        let scene = try await Scene(process: .init(environment: faults.environment))
        // Short writes are continued; the next one fails.
        try faults.set("pwrite64 .incomplete/part 1 1 \(error)", "pwrite64 .incomplete/part 1 1 ENOSPC")
        let id = try await scene.api.submit(scene.order("/file", ("connections", .integer(connections))))
        let waiting = try await scene.api.waitForJob(id, .waiting)
        #expect(["space", "storage"].contains(waiting["reason"]), "\(waiting.written)")
        #expect(!faults.log.isEmpty)
        try faults.heal()
        try await scene.api.act(.resume, on: id)
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["file"]["size"].integer == Int64(scene.bytes.count))
        #expect(scene.fetchd.downloaded(try #require(job["file"]["path"].string)) == scene.bytes)
    }
}
