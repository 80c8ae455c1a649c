import Foundation
import TestKit

/// A file plan in action: answers requests at all its places, and records every version it has served.
final class ServedFile: Sendable {
    /// The bytes that a response gave for the whole file.
    struct Claim: Sendable {
        var bytes: [UInt8]
        var etag: String?
        var lastModified: String?
    }

    private struct State: Sendable {
        /// The request from which on the file has no faults.
        var requests = 0
        /// The request from which on all is well.
        var goodFrom: Int?
        var claims: [String: Claim] = [:]
        var log: [String] = []
    }

    let plan: FilePlan
    private let urls: [Place: String]
    private let resources: [String: (resource: OriginResource, bytes: [UInt8])]
    private let state = Monitor(State())

    init(_ plan: FilePlan, at home: Origin, and mirror: Origin) {
        self.plan = plan
        urls = [
            .home: home.url("/\(plan.name)"), .moved: home.url("/\(plan.name)/moved"),
            .mirror: mirror.url("/\(plan.name)"), .mirrorMoved: mirror.url("/\(plan.name)/moved"),
        ]
        var resources: [String: (OriginResource, [UInt8])] = [:]
        for place in Place.allCases {
            for request in [1] + plan.changes {
                let version = plan.version(at: request, place)
                let bytes = resources[version.key]?.1 ?? version.bytes
                resources[version.key] = (.file(bytes, etag: version.etag, lastModified: version.lastModified), bytes)
            }
        }
        self.resources = resources
        for (place, origin, path) in [
            (Place.home, home, "/\(plan.name)"), (.moved, home, "/\(plan.name)/moved"),
            (.mirror, mirror, "/\(plan.name)"), (.mirrorMoved, mirror, "/\(plan.name)/moved"),
        ] {
            origin.serve(path, OriginResource { [self] in answer($0, at: place) })
        }
    }

    func url(_ place: Place) -> String { urls[place] ?? "" }

    var requestCount: Int { state.current.requests }
    var claims: [Claim] { Array(state.current.claims.values) }
    /// Requests and responses, one per line.
    var log: [String] { state.current.log }

    /// From now on every response is correct, and the file does not change.
    func behave() { state.withLock { $0.goodFrom = $0.goodFrom ?? $0.requests } }

    // MARK: Answering

    private func answer(_ request: RecordedRequest, at place: Place) -> OriginAnswer {
        let (ordinal, goodFrom) = state.withLock { state in
            state.requests += 1
            return (state.requests, state.goodFrom)
        }
        let version = plan.version(at: goodFrom ?? ordinal, place)
        let faults = goodFrom == nil ? plan.faults[ordinal] ?? [] : []
        guard let served = resources[version.key] else { return OriginAnswer(status: 500) }
        var understood = request
        let isConditional = request.header("If-Range") != nil
        if plan.habits.ignoresRanges || plan.habits.refusesConditions && isConditional { understood.range = nil }
        if plan.habits.ignoresConditions { understood.headers.removeAll { $0.name.lowercased() == "if-range" } }
        for fault in faults { fault.misread(&understood, size: version.size) }
        var answer = served.resource.respond(understood)
        follow(plan.habits, &answer, version)
        for fault in faults { fault.spoil(&answer, to: request, of: self, version) }
        note(ordinal, request, place, answer, version, served.bytes, faults)
        return answer
    }

    private func follow(_ habits: FilePlan.Habits, _ answer: inout OriginAnswer, _ version: FileVersion) {
        answer.set("Date", version.date)
        answer.bytesPerSecond = habits.bytesPerSecond
        if answer.status == 206, habits.isTaciturn {
            for name in ["ETag", "Last-Modified"] { answer.set(name, nil) }
        }
        switch habits.framing {
        case .length: break
        case .chunked: answer.framing = .chunked()
        case .untilClose: answer.framing = .untilClose
        }
    }

    private func note(
        _ ordinal: Int, _ request: RecordedRequest, _ place: Place, _ answer: OriginAnswer, _ version: FileVersion,
        _ bytes: [UInt8], _ faults: [Fault]
    ) {
        var claim: (String, Claim)?
        switch answer.status {
        case 206:
            claim = (version.key, Claim(bytes: bytes, etag: version.etag, lastModified: version.lastModified))
        case 200:
            let isTrue = answer.body.count == bytes.count && faults.isEmpty
            claim = (
                isTrue ? version.key : "\(ordinal)",
                Claim(
                    bytes: answer.body, etag: answer.header("ETag"), lastModified: answer.header("Last-Modified"))
            )
        case 416:
            // A 416 whose total equals the received bytes declares that they are the whole file.
            guard let total = answer.header("Content-Range").flatMap({ Int($0.dropFirst("bytes */".count)) }),
                total < bytes.count
            else { break }
            claim = (
                "416-\(ordinal)",
                Claim(bytes: Array(bytes.prefix(total)), etag: version.etag, lastModified: version.lastModified)
            )
        default: break
        }
        let asked = [request.header("Range"), request.header("If-Range")].compactMap { $0 }.joined(separator: " if ")
        let told = [answer.header("Content-Range"), answer.header("ETag")].compactMap { $0 }.joined(separator: " ")
        let line =
            "\(ordinal) at \(place): \(asked.isEmpty ? "everything" : asked) -> \(answer.status) \(told) "
            + "(\(answer.body.count) bytes, \(answer.framing)) \(faults.map(\.description).joined(separator: "; "))"
        state.withLock { state in
            state.log.append(line)
            if let (key, claim) = claim, state.claims[key] == nil { state.claims[key] = claim }
        }
    }
}

extension FileVersion {
    /// A unique key for each version, even if versions have the same validators.
    fileprivate var key: String { "\(place)+\(size) \(etag ?? "") \(lastModified ?? "")" }
}
