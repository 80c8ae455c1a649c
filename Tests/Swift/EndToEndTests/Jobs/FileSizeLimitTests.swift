import Formats
import TestKit
import Testing

/// `--max-file-size`, together with the `max_size` of a job.
@Suite struct FileSizeLimitTests {
    private func scene(_ bytes: Int64) async throws -> Scene {
        let scene = try await Scene(.init { $0.start.values.maxFileSize = bytes })
        scene.origin.serve("/chunks", .file(scene.bytes), .chunked())
        return scene
    }

    private func failure(_ scene: Scene, _ path: String, _ limit: JSON = .null) async throws -> JSON {
        let id = try await scene.api.submit(scene.order(path, ("max_size", limit)))
        return try await scene.api.waitForJob(id, .failed)["failure"]
    }

    @Test(arguments: ["/file", "/chunks"]) func failsLargerFile(_ path: String) async throws {
        let scene = try await scene(199_999)
        let failure = try await failure(scene, path)
        #expect(failure["code"] == "too_large")
        #expect(failure["message"] == "The file is larger than the service's --max-file-size of 199999 bytes.")
        #expect(failure["attempts"] == 1)
    }

    @Test(arguments: ["/file", "/chunks"]) func lowerLimitOfBothApplies(_ path: String) async throws {
        let scene = try await scene(150_000)
        for (limit, message) in [
            (100_000, "job's max_size of 100000"), (150_000, "job's max_size of 150000"),
            (9_999_999, "service's --max-file-size of 150000"),
        ] {
            let failure = try await failure(scene, path, .integer(Int64(limit)))
            #expect(failure["message"].string?.contains(message) == true, "\(failure.written)")
        }
    }

    @Test func downloadsFileOfTheLargestSize() async throws {
        let scene = try await scene(200_000)
        try await scene.api.waitForJob(scene.api.submit(scene.order()), .succeeded)
    }
}
