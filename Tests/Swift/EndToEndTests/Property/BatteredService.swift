import Formats
import Foundation
import TestKit

/// A service of one node or more, which are killed and restarted during requests: a request is repeated until a node answers.
/// Each request goes to the next node.
final class BatteredService: Sendable {
    let nodes: [FetchdProcess]
    private let ports: [ReservedPort]
    private let down = Monitor<Set<Int>>([])
    private let turn = Monitor(0)
    /// The newest that were seen, by the identifiers of the jobs.
    private let revisions = Monitor<[String: Int64]>([:])

    static func start(_ place: StorePlace) async throws -> BatteredService {
        let (limits, places) = (
            ["--max-connections-per-host", "24", "--max-concurrent-jobs", "12"], try place.newNodes()
        )
        var nodes: [FetchdProcess] = []
        for place in places {
            nodes.append(try await FetchdProcess.start(.init(arguments: limits + place.arguments)))
        }
        return BatteredService(nodes, places.compactMap(\.port))
    }

    private init(_ nodes: [FetchdProcess], _ ports: [ReservedPort]) { (self.nodes, self.ports) = (nodes, ports) }

    /// - Parameter number: chooses the node, and for one of several whether it comes back before the others have taken its
    ///   work over.
    func suffer(_ interruption: ServiceInterruption.Kind, at number: Int) async throws {
        let index = number % nodes.count
        down.withLock { _ = $0.insert(index) }
        switch interruption {
        case .kill: try await nodes[index].kill()
        case .terminate:
            let ending = try await nodes[index].terminate()
            guard ending == .exited(0) else { throw Overdue("The service was asked to end and ended so: \(ending)") }
        }
        if nodes.count > 1, (number / nodes.count).isMultiple(of: 2) { try await othersHaveTakenOver() }
        try await nodes[index].restart()
        down.withLock { _ = $0.remove(index) }
    }

    private func othersHaveTakenOver() async throws {
        _ = try await eventually("the other nodes to take the work over") {
            let answer = try await ask("GET", "/v1/nodes")
            return answer.json["nodes"].arrayValue?.contains { $0["state"] == "stopped" } ?? false ? true : nil
        }
    }

    /// The node for the next request: one that should answer, if there is one.
    private func next() -> Int {
        let away = down.current
        let candidates = nodes.indices.filter { !away.contains($0) }
        let number = turn.withLock { turn in
            turn += 1
            return turn
        }
        return candidates.isEmpty ? 0 : candidates[number % candidates.count]
    }

    /// - Throws: if a node has died by itself, or no node answers for a minute.
    func ask(
        _ method: String, _ path: String, _ body: JSON? = nil, headers: [(name: String, value: String)] = []
    ) async throws -> APIAnswer {
        try await eventually("an answer to \(method) \(path)", pause: .milliseconds(20)) {
            let index = next()
            // The node may have restarted in between, on another port.
            guard let answer = try? await nodes[index].api.send(method, path, body, headers: headers) else {
                guard nodes[index].isRunning || down.current.contains(index) else {
                    throw Overdue("Node \(index) has died by itself:\n\(nodes[index].log.suffix(4000))")
                }
                return nil
            }
            return answer.status == 503 ? nil : answer
        }
    }

    /// A node can follow the changes that another one has acknowledged a moment later, so a client of several nodes that has
    /// changed a job asks until it sees that revision.
    func job(_ id: String) async throws -> JSON {
        try await eventually("the newest revision of \(id)", pause: .milliseconds(20)) {
            let answer = try await ask("GET", "/v1/jobs/\(id)")
            guard answer.status == 200 else { throw Overdue("GET of \(id) was answered \(answer)") }
            return note(answer.json) ? answer.json : JSON?.none
        }
    }

    /// - Returns: whether the document of a job is at least as new as all before it.
    @discardableResult
    func note(_ job: JSON) -> Bool {
        guard let id = job["id"].string, let revision = job["revision"].integer else { return true }
        return revisions.withLock { revisions in
            let known = revisions[id] ?? 0
            revisions[id] = max(known, revision)
            return revision >= known
        }
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

    /// The end of the log of each node.
    var log: String { nodes.map { $0.log.suffix(6000 / nodes.count) }.joined(separator: "\n\n") }

    /// The bytes of a finished file; nil if there is none. A file of several nodes is on one of them, and each gives it out.
    func file(of job: JSON, named name: String) async throws -> [UInt8]? {
        if nodes.count == 1 { return nodes[0].downloaded(name) }
        guard let id = job["id"].string, job["file"] != .null else { return nil }
        let answer = try await ask("GET", "/v1/jobs/\(id)/file")
        return answer.status == 200 ? answer.body : nil
    }

    /// The bytes of every part file.
    var parts: [[UInt8]] {
        nodes.flatMap { node in
            node.folder.files.filter { $0.hasSuffix(".part") }.compactMap { node.folder.bytes(of: $0) }
        }
    }

    func partFilesAreRemoved() async throws {
        for node in nodes { _ = try await node.partFilesAreRemoved() }
    }

    /// Everything in the downloads folders.
    var files: [String] { nodes.flatMap { $0.folder.files.filter { $0.hasPrefix("downloads/") } } }

    /// The open files of the processes below their downloads folders, without directories.
    var openFiles: [String] {
        nodes.flatMap { node in
            let table = "/proc/\(node.pid)/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: table)) ?? []
            return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(table)/\($0)") }
        }.filter { $0.contains("/downloads/") && !$0.hasSuffix("/.incomplete") && !$0.hasSuffix("/.incomplete/lock") }
    }

    /// The largest number of one process.
    var openDescriptors: Int {
        nodes.map { node in
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(node.pid)/fd"))?.count ?? 0
        }.max() ?? 0
    }
}

extension JSON {
    var isTerminal: Bool { ["succeeded", "failed", "cancelled"].contains(self["state"]) }
    /// Whether the job stays as it is until a client acts.
    var isAtRest: Bool { isTerminal || self["state"] == "paused" }
}
