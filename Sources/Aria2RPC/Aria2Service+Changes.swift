import Downloads
import Formats
import Foundation
import Lists
import Operations
import Storage

/// `aria2.addUri`.
extension Aria2Service {
    func addURI(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let uris = try parameters.strings()
        let options = DownloadOptions(try parameters.optionalObject() ?? [:])
        let position = try parameters.optionalInteger()
        guard !uris.isEmpty else { throw RPCError("URI is not provided.") }
        if let position, position < 0 { throw RPCError("Position must be greater than or equal to 0.") }
        let sources = try sources(uris)
        guard !sources.isEmpty else { throw RPCError("No URI to download.") }
        let folder = try await configuration().directory
        var new = NewJob(session: session, spec: try options.spec(of: sources, in: root, folder))
        new.isPaused = try options.isPaused
        new.gid = try options.gid ?? .random()
        log(ignored: options)
        let jobs = try await create([new], at: position, caller)
        return .string(jobs[0].aria2GID.description)
    }

    /// A download for each file of a Metalink document, all of them or none.
    func addMetalink(_ parameters: inout RPCParameters, _ caller: RPCCaller) async throws -> JSON {
        let text = try parameters.string()
        let given = try parameters.optionalObject() ?? [:]
        let position = try parameters.optionalInteger()
        if let position, position < 0 { throw RPCError("Position must be greater than or equal to 0.") }
        let files = try MetalinkFile.forAria2(in: Data(base64Encoded: text).map { [UInt8]($0) } ?? [])
        let folder = try await configuration().directory
        var new: [NewJob] = []
        for file in files {
            let options = DownloadOptions(file.options(besides: given))
            var job = NewJob(session: session, spec: try options.spec(of: sources(file.urls), in: root, folder))
            job.spec.expectedSize = file.size
            job.spec.pieces = file.pieces
            job.isPaused = try options.isPaused
            job.gid = .random()
            new.append(job)
        }
        log(ignored: DownloadOptions(given))
        guard !new.isEmpty else { return [] }
        return .strings(try await create(new, at: position, caller).map(\.aria2GID.description))
    }

    /// Logs the names of options that have no effect, but not their values.
    func log(ignored options: DownloadOptions) {
        let names = options.ignoredNames
        guard !names.isEmpty else { return }
        log.info("aria2 RPC: fetchd ignores the options \(names.joined(separator: ", ")).")
    }

    /// - Throws: aria2's error if a URI has another scheme than HTTP.
    func sources(_ uris: [String]) throws(RPCError) -> [String] {
        let sources = DownloadOptions.distinct(uris)
        guard sources.count <= 16 else { throw RPCError("A download has at most 16 URIs.") }
        for uri in sources {
            if let fault = DownloadOptions.fault(in: uri, allowsRehearsals: options.allowsRehearsals) {
                throw RPCError("No URI to download. A URI \(fault).")
            }
        }
        return sources
    }

    private func create(_ new: [NewJob], at position: Int?, _ caller: RPCCaller) async throws -> [Job] {
        guard let position else { return try await create(new, caller) }
        return try await onPresentQueue { queue in
            let place = try await place(at: position, of: queue, for: try await configuration().priority ?? .normal)
            // Each job goes to the place, so of several at the top the first is created last.
            var new = place == .top ? new.reversed() : new
            for index in new.indices { new[index].place = place }
            let jobs = try await create(new, caller)
            return place == .top ? jobs.reversed() : jobs
        }
    }

    /// The configuration of the session, which may not exist yet.
    func configuration() async throws -> SessionConfiguration {
        try await declaredSession()?.configuration ?? SessionConfiguration()
    }

    func declaredSession() async throws -> Session? { try await declaredStatus()?.session }

    /// nil before the first download.
    func declaredStatus() async throws -> SessionStatus? {
        do {
            return try await sessions.status(of: session)
        } catch StoreError.noSuchSession {
            return nil
        }
    }

    /// The first call declares the session.
    private func create(_ new: [NewJob], _ caller: RPCCaller) async throws -> [Job] {
        let configuration = try await configuration()
        for new in new { try caller.requireLocation(of: new.spec.destination, configuration) }
        do {
            return try await jobs.create(new, by: caller.creator)
        } catch StoreError.unknownSession {
            _ = try await sessions.declare(session, configuration: nil)
            return try await jobs.create(new, by: caller.creator)
        }
    }
}

/// The methods that change the state of downloads.
extension Aria2Service {
    /// - Parameters:
    ///   - isPossible: whether a job in this state can be changed.
    ///   - refusal: aria2's error if not.
    func perform(
        _ signal: JobSignal, _ parameters: inout RPCParameters, if isPossible: (JobState) -> Bool,
        else refusal: (GID) -> String
    ) async throws -> JSON {
        let job = try await job(try parameters.gid(), isPresent: true)
        guard isPossible(job.state) else { throw RPCError(refusal(job.aria2GID)) }
        switch try await jobs.perform(signal, on: job.id) {
        case .done, .stale, .superseded, .excess: return .string(job.aria2GID.description)
        case .refused: throw RPCError(refusal(job.aria2GID))
        }
    }

    func performOnAll(_ signal: JobSignal) async throws -> JSON {
        do {
            _ = try await sessions.perform(signal, onAllOf: session)
        } catch StoreError.noSuchSession {
            // No download was added yet.
        }
        return "OK"
    }

    /// A job that waits for its next attempt keeps waiting: aria2 has no such state.
    func unpauseAll() async throws -> JSON {
        try await resume(try await jobs.paused(of: session))
        return "OK"
    }

    /// - Parameter paused: jobs that were paused when they were listed.
    func resume(_ paused: [JobID]) async throws {
        try await forEachPresent(of: paused) { _ = try await jobs.perform(.resumeRequested, on: $0) }
    }

    /// Another call may have deleted some of the jobs.
    func forEachPresent(of ids: some Sequence<JobID>, _ act: (JobID) async throws -> Void) async throws {
        for id in ids {
            do { try await act(id) } catch StoreError.noSuchJob {}
        }
    }

    /// Removes all downloads that have ended from the list. Their files stay.
    func purgeResults() async throws -> JSON {
        try await purge(try await jobs.ended(of: session))
        return "OK"
    }

    /// - Parameter ended: jobs that had ended when they were listed. Those that a client has retried since stay.
    func purge(_ ended: [JobID]) async throws {
        try await forEachPresent(of: ended) { _ = try await jobs.deleteIfEnded($0) }
    }

    func removeResult(_ parameters: inout RPCParameters) async throws -> JSON {
        let job = try await job(try parameters.gid())
        guard try await jobs.deleteIfEnded(job.id) else {
            throw RPCError("Could not remove download result of GID#\(job.aria2GID)")
        }
        return "OK"
    }
}

/// Places in the queue. aria2 counts them over the whole queue, also over jobs of other priorities.
extension Aria2Service {
    func changePosition(_ parameters: inout RPCParameters) async throws -> JSON {
        let gid = try parameters.gid()
        let (offset, how) = (try parameters.integer(), try parameters.string())
        guard let origin = PositionOrigin(rawValue: how) else { throw RPCError("Illegal argument.") }
        let job = try await job(gid, isPresent: true)
        return .count(try await onPresentQueue { try await move(job, by: offset, from: origin, in: $0) })
    }

    /// - Returns: the job's new position.
    private func move(_ job: Job, by offset: Int, from origin: PositionOrigin, in queue: [JobID]) async throws -> Int {
        guard let present = queue.firstIndex(of: job.id) else {
            throw RPCError("GID#\(job.aria2GID) not found in the waiting queue.")
        }
        let wanted = origin.position(offset: offset, present: present, count: queue.count)
        guard wanted != present else { return present }
        let others = queue.filter { $0 != job.id }
        let place = try await place(at: wanted, of: others, for: job.spec.priority ?? .normal)
        let moved = try await jobs.move(job.id, to: .place(place))
        return try await jobs.queue(of: session).firstIndex(of: moved.id) ?? wanted
    }

    /// The place at a position of a queue, for a job of this priority. Jobs of another priority are no neighbours: the place
    /// is then the end that is next to them.
    func place(at position: Int, of others: [JobID], for priority: Priority) async throws -> QueuePosition {
        if position == 0 { return .top }
        if position >= others.count { return .bottom }
        let next = try await jobs.storedJob(others[position])
        let rank = (next.spec.priority ?? .normal).rank
        if rank == priority.rank { return .before(next.id) }
        return rank < priority.rank ? .top : .bottom
    }

    /// Carries out a change that depends on the queue. If a neighbour of the new place has started, has ended or was
    /// deleted since the queue was read, the queue is read again.
    ///
    /// - Throws: also `StoreError.moveRefused`, if the change is refused again and again.
    func onPresentQueue<Value>(_ change: ([JobID]) async throws -> Value) async throws -> Value {
        for _ in 1..<Self.mostQueueReads {
            do {
                return try await change(try await jobs.queue(of: session))
            } catch StoreError.moveRefused, StoreError.noSuchJob {
                continue
            }
        }
        return try await change(try await jobs.queue(of: session))
    }

    private static let mostQueueReads = 10
}

/// The third parameter of `aria2.changePosition`.
private enum PositionOrigin: String {
    case set = "POS_SET"
    case current = "POS_CUR"
    case end = "POS_END"

    func position(offset: Int, present: Int, count: Int) -> Int {
        let position =
            switch self {
            case .set: offset
            case .current: present.addingReportingOverflow(offset).partialValue
            case .end: (count - 1).addingReportingOverflow(offset).partialValue
            }
        return min(max(0, position), count - 1)
    }
}

/// A file of a Metalink, as aria2's options say it.
extension MetalinkFile {
    /// - Throws: aria2's error for what is no Metalink, and another one for a file that cannot be downloaded.
    fileprivate static func forAria2(in document: [UInt8]) throws(RPCError) -> [MetalinkFile] {
        do throws(Fault) {
            return try files(in: document)
        } catch {
            throw RPCError(
                error.fault.isFatal
                    ? "Could not parse Metalink XML document." : "Line \(error.line): \(error.fault.reason)")
        }
    }

    /// Options that concern one file are those of the document.
    fileprivate func options(besides given: JSONObject) -> JSONObject {
        var options = given
        options["gid"] = nil
        options["out"] = path.map { .string($0) }
        options["checksum"] = checksum.map { .string("\($0.algorithm.rawValue)=\($0.value)") }
        return options
    }
}
