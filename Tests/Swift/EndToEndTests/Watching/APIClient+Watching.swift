import Foundation
import TestKit

extension APIClient {
    /// `GET /v1/jobs/{id}`, with the client's ETag, a wait, or both.
    func poll(_ id: String, knowing tag: String? = nil, wait seconds: Int? = nil) async throws -> APIAnswer {
        var headers: [(name: String, value: String)] = []
        if let tag { headers.append(("If-None-Match", tag)) }
        if let seconds { headers.append(("Prefer", "wait=\(seconds)")) }
        return try await get("/v1/jobs/\(id)", headers: headers)
    }

    /// The ETag of a job's current document.
    func tag(of id: String) async throws -> String {
        guard let tag = try await poll(id).header("ETag") else { throw Overdue("\(id) to have an ETag") }
        return tag
    }
}

extension FetchdProcess {
    /// The number of open file descriptors of the service.
    var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0 }

    /// The resident memory of the service in bytes.
    var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }
}

extension Scene {
    /// Waits until the given number of requests wait for changes.
    func untilWatched(by waits: Int64 = 1) async throws {
        _ = try await eventually("\(waits) requests to wait") {
            try await api.get("/v1/stats").json["watchers"]["waits"].integer ?? 0 >= waits ? true : nil
        }
    }
}
