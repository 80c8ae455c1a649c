import Formats
import Foundation
import TestKit
import Testing

extension Scene {
    /// A job of `/held` that has received 100,000 bytes and gets no more.
    func heldJob(_ members: (String, JSON)...) async throws -> String {
        var order: JSONObject = ["url": .string(origin.url("/held"))]
        for (name, value) in members { order[name] = value }
        let id = try await api.submit(.object(order))
        try await api.waitForBytes(id, atLeast: 100_000)
        return id
    }

    /// A job that was paused with 100,000 bytes.
    func pausedJob(_ members: (String, JSON)...) async throws -> String {
        var order: JSONObject = ["url": .string(origin.url("/held"))]
        for (name, value) in members { order[name] = value }
        let id = try await api.submit(.object(order))
        try await api.waitForBytes(id, atLeast: 100_000)
        try await api.act(.pause, on: id)
        return id
    }

    /// The sizes of the files in the folder of parts.
    var partSizes: [Int64] {
        let folder = fetchd.folder.path("downloads/.incomplete")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".part") }.compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return attributes?[.size] as? Int64
        }.sorted()
    }

    /// Checks, for jobs at rest, that the resume data in the API and the files in the folder of parts have the given
    /// sizes.
    func expectStoredParts(
        _ sizes: [Int64], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var told: [Int64] = []
        for job in try await api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue ?? [] {
            let part = try await api.resumeData(of: job["id"].string ?? "")
            if let bytes = part?["bytes_durable"].integer { told.append(bytes) }
            guard job["state"] != "succeeded" else { continue }
            #expect(
                job["progress"]["bytes_durable"] == part?["bytes_durable"] ?? 0, "\(job.written)",
                sourceLocation: sourceLocation)
        }
        #expect(told.sorted() == sizes.sorted(), sourceLocation: sourceLocation)
        // The row is deleted before the part file.
        let files = try await eventually("the folder of parts to hold \(sizes)") { [self] in
            partSizes == sizes.sorted() ? partSizes : nil
        }
        #expect(files.count == told.count, sourceLocation: sourceLocation)
    }
}
