import Formats
import Foundation
import TestKit

/// A service that is killed and restarted during requests: a request is repeated until the service answers.
final class BatteredService: Sendable {
    let fetchd: FetchdProcess
    private let isDown = Monitor(false)

    static func start() async throws -> BatteredService {
        let arguments = ["--max-connections-per-host", "24", "--max-concurrent-jobs", "12"]
        return BatteredService(try await FetchdProcess.start(.init(arguments: arguments)))
    }

    private init(_ fetchd: FetchdProcess) { self.fetchd = fetchd }

    func suffer(_ interruption: ServiceInterruption.Kind) async throws {
        isDown.withLock { $0 = true }
        switch interruption {
        case .kill: try await fetchd.kill()
        case .terminate:
            let ending = try await fetchd.terminate()
            guard ending == .exited(0) else { throw Overdue("The service was asked to end and ended so: \(ending)") }
        }
        try await fetchd.restart()
        isDown.withLock { $0 = false }
    }

    /// - Throws: if the service has died by itself, or does not answer for a minute.
    func ask(
        _ method: String, _ path: String, _ body: JSON? = nil, headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        try await eventually("an answer to \(method) \(path)", atMost: .seconds(60), pause: .milliseconds(20)) {
            // The service may have restarted in between, on another port.
            guard let answer = try? await fetchd.api.send(method, path, body, headers: headers) else {
                guard fetchd.isRunning || isDown.current else {
                    throw Overdue("The service has died by itself:\n\(fetchd.log.suffix(4000))")
                }
                return nil
            }
            return answer.status == 503 ? nil : answer
        }
    }

    func job(_ id: String) async throws -> JSON {
        let answer = try await ask("GET", "/v1/jobs/\(id)")
        guard answer.status == 200 else { throw Overdue("GET of \(id) was answered \(answer)") }
        return answer.json
    }

    /// The resume data of a job; nil if there is none.
    func resumeData(of id: String) async throws -> JSON? {
        let answer = try await ask("GET", "/v1/jobs/\(id)/resume-data")
        guard answer.status == 200 else { return nil }
        return answer.json
    }

    func hasResumeData(of id: String) async throws -> Bool {
        // `!= nil` would compare with the document `null`.
        if case .some = try await resumeData(of: id) { true } else { false }
    }

    /// The bytes of every part file.
    var parts: [[UInt8]] {
        fetchd.folder.files.filter { $0.hasSuffix(".part") }.compactMap { fetchd.folder.bytes(of: $0) }
    }

    /// The open files of the process below its downloads folder, without directories.
    var openFiles: [String] {
        let table = "/proc/\(fetchd.pid)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: table)) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(table)/\($0)") }
            .filter { $0.contains("/downloads/") && !$0.hasSuffix("/.incomplete") }
    }

    var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(fetchd.pid)/fd"))?.count ?? 0
    }
}

extension JSON {
    var isTerminal: Bool { ["succeeded", "failed", "cancelled"].contains(self["state"]) }
    /// Whether the job stays as it is until a client acts.
    var isAtRest: Bool { isTerminal || self["state"] == "paused" }
}
