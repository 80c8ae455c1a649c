import Base
import Downloads
import Formats
import Foundation
import HTTPServer
import Lists
import Logging
import Operations
import Storage

/// Imports lists: judges a whole list, then creates its jobs in steps. An import goes on when its client has gone, and continues
/// after a restart of the service.
final class Importer: Sendable {
    private let store: Store
    private let jobs: Jobs
    private let rules: NewJobRules
    private let log: Logger
    private let underWay = ActionsUnderWay()
    /// Each import has the jobs of a step in memory, and makes many changes.
    private let gate = AsyncGate(width: 2)
    private let state = Locked(State())

    private struct State {
        var isStopping = false
        var uploads = 0
        var createdJobs = 0
        /// The imports of former runs that continue.
        var continued: [Task<Void, Never>] = []
    }

    init(store: Store, jobs: Jobs, rules: NewJobRules, log: Logger) {
        (self.store, self.jobs, self.rules, self.log) = (store, jobs, rules, log)
    }

    /// Since the start of the service.
    var createdJobs: Int { state.withLock(\.createdJobs) }

    /// Prepares for the list of a request.
    ///
    /// - Throws: 503 if many lists arrive now: each can take a GiB of disk.
    func receive(_ request: ImportRequest) throws(Problem) -> ListUpload {
        let isFree = state.withLock { state in
            guard state.uploads < Self.mostUploads else { return false }
            state.uploads += 1
            return true
        }
        guard isFree else {
            throw Problem.unavailable(
                "\(Self.mostUploads) other lists are being received. Try again later.", retryAfter: 5)
        }
        return ListUpload(request, into: store) { [state] in state.withLock { $0.uploads -= 1 } }
    }

    /// Imports a complete list. The same list is imported once; a repetition gets the answer of the first import.
    ///
    /// - Parameter claim: makes a claim of the digest of request and list.
    func run(
        _ upload: ListUpload, by caller: Caller, _ claim: (Data) throws -> IdempotencyClaim
    ) async throws -> IdempotentResponse {
        let received = try await upload.received()
        let isTaken = Locked(false)
        do {
            let answer = try await underWay.answer(to: try claim(received.digest), from: jobs) { [self] claim in
                isTaken.withLock { $0 = true }
                let list = ImportedJobs(request: upload.request, rules: rules, caller: caller)
                return try await carryOut(list, received.id, once: claim)
            }
            // The list of a repetition is not needed. Any other is removed already.
            await store.removeList(received.id)
            return answer
        } catch {
            if !isTaken.withLock(\.self) { await store.removeList(received.id) }
            throw error
        }
    }

    private static let mostUploads = 16
}

extension Importer {
    private func carryOut(_ list: ImportedJobs, _ id: ImportID, once claim: IdempotencyClaim) async throws
        -> IdempotentResponse
    {
        do {
            let answer = try await gate.pass(for: claim.caller) { try await importAll(list, id, once: claim) }
            await store.removeList(id)
            return answer
        } catch let stop as ImportStopped {
            // The list stays, and the next start continues.
            throw stop.problem
        } catch {
            await store.removeList(id)
            throw error
        }
    }

    private func importAll(_ list: ImportedJobs, _ id: ImportID, once claim: IdempotencyClaim) async throws
        -> IdempotentResponse
    {
        let judgement = try await judge(list, id)
        try judgement.requireJobs(keepsGoing: list.request.keepsGoing)
        let beginning = try await persistently { [store] in
            try await store.beginImport(id, once: claim, of: judgement.jobs, by: list.creator)
        }
        switch beginning {
        case .answered(let answer): return answer
        case .begun(let status):
            do {
                try await create(list, after: status)
                let change = "\(judgement.jobs) jobs of a list (\(list.request.format.rawValue))"
                let answer = try await persistently { [store] in
                    try await store.endImport(id, once: claim, audit: list.request.note, change: change) {
                        judgement.answer(existing: status.created, $0)
                    }
                }
                log.info("Imported \(change).", metadata: ["session": "\(list.request.session)"])
                return answer
            } catch  where !(error is ImportStopped) {
                await interrupt(list, id, because: error)
                throw error
            }
        }
    }

    /// Reads the whole list, so that a fault is found before the first job is created.
    private func judge(_ list: ImportedJobs, _ id: ImportID) async throws -> ImportJudgement {
        var judgement = ImportJudgement()
        // The session of the request is no fault of a line.
        try await requireOpen(list.request.session)
        var known: Set<Name> = [list.request.session]
        var entries = try await ListEntries(store, id, list.request)
        while let more = try await entries.next() {
            for entry in more {
                do {
                    let new = try list.job(entry)
                    try await rules.requireAllowedLocations(of: [new], for: list.caller) { _ in "" }
                    if !known.contains(new.session) {
                        try await requireOpen(new.session)
                        known.insert(new.session)
                    }
                    judgement.accept(entry)
                } catch let error where !(error is CancellationError) {
                    let problem = Problem(error)
                    guard problem.kind.status.code < 500 else { throw error }
                    judgement.refuse(entry, problem)
                }
            }
            try requireRunning()
        }
        return judgement
    }

    private func requireOpen(_ session: Name) async throws {
        do {
            let status = try await store.session(session)
            if status.session.isFinishing { throw StoreError.sessionFinishing(session, index: nil) }
        } catch StoreError.noSuchSession {
            var problem = Problem(StoreError.unknownSession(session, index: 0))
            problem.pointer = "/session"
            throw problem
        }
    }

    /// Creates the jobs after the position of the import, in steps.
    private func create(_ list: ImportedJobs, after status: ImportStatus) async throws {
        var step = ImportStep(from: status.position)
        var position = 0
        var entries = try await ListEntries(store, status.id, list.request)
        while let more = try await entries.next() {
            for entry in more {
                position += 1
                guard position > status.position else { continue }
                if let new = try? list.job(entry, isChecked: false) { step.jobs.append(new) }
                step.end = position
                if step.jobs.count == ImportStep.mostJobs { try await store(&step, list, status.id) }
                if position.isMultiple(of: Self.jobsBetweenTrims) { FreedMemory.giveBack() }
            }
            step.bytes += entries.bytesOfPiece
            if step.bytes >= ImportStep.mostBytes { try await store(&step, list, status.id) }
        }
        try await store(&step, list, status.id)
    }

    /// The changes of many jobs leave holes in the memory.
    private static let jobsBetweenTrims = 20_000

    private func store(_ step: inout ImportStep, _ list: ImportedJobs, _ id: ImportID) async throws {
        try requireRunning()
        step.bytes = 0
        guard !step.jobs.isEmpty else { return }
        let present = step
        try await persistently { [store] in
            try await store.createJobs(present.jobs, by: list.creator, in: id, from: present.begin, upTo: present.end)
        }
        state.withLock { $0.createdJobs += present.jobs.count }
        step = ImportStep(from: step.end)
    }

    /// Repeats a change until the disk or the server of the database can store it. An acknowledged list is not given up for them.
    private func persistently<Value>(_ change: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await change()
            } catch let error as StoreError where error.canPass {
                log.warning("fetchd cannot store the jobs of a list yet, and tries again every second. \(error)")
                try requireRunning()
                try? await Task.sleep(for: .seconds(1))
                try requireRunning()
            }
        }
    }

    private func requireRunning() throws { if state.withLock(\.isStopping) { throw ImportStopped() } }

    private func interrupt(_ list: ImportedJobs, _ id: ImportID, because error: any Error) async {
        do {
            try await persistently { [store] in
                try await store.interruptImport(
                    id, audit: list.request.note, change: "import interrupted: \(Problem(error).detail)")
            }
        } catch {
            log.warning("The interrupted import \(id) could not be stored. \(error)")
        }
    }
}

/// The imports of former runs.
extension Importer {
    /// Continues the imports that were under way, and removes the lists of all others. Call it before requests are accepted.
    func begin() async throws {
        let lists = try store.stagedLists()
        var continued: Set<ImportID> = []
        for id in lists {
            guard let claim = try await store.claim(ofImport: id, route: ImportRequest.route),
                let request = try await header(of: id)
            else {
                await store.removeList(id)
                continue
            }
            guard let caller = caller(of: request) else {
                log.warning("The import \(id) does not continue, because its token is not valid any more.")
                await store.removeList(id)
                continue
            }
            continued.insert(id)
            let list = ImportedJobs(request: request, rules: rules, caller: caller)
            log.notice("The import \(id) continues.")
            let task = Task { [self] in
                do {
                    _ = try await underWay.answer(to: claim, from: jobs) { try await self.carryOut(list, id, once: $0) }
                    log.notice("The import \(id) is complete.")
                } catch {
                    log.warning("The import \(id) has ended before its list. \(Problem(error).detail)")
                }
            }
            state.withLock { $0.continued.append(task) }
        }
        try await store.interruptImports(exceptOf: continued)
    }

    private func header(of id: ImportID) async throws -> ImportRequest? {
        do throws(StoreError) {
            return ImportRequest(header: try await store.readList(id).next() ?? [])
        } catch {
            if case .sealBroken = error { return nil }
            throw error
        }
    }

    /// nil if the token was revoked or has expired.
    private func caller(of request: ImportRequest) -> Caller? {
        guard let id = request.token else { return Caller(grant: .everything, identity: request.identity) }
        guard let token = try? store.tokens.token(id), !token.isExpired(at: store.time.now) else { return nil }
        return Caller(grant: token.grant, identity: request.identity, token: token)
    }

    /// Ends the imports at their next step. They continue at the next start.
    func stop() async {
        let continued = state.withLock { state in
            state.isStopping = true
            return state.continued
        }
        for task in continued { await task.value }
        await underWay.waitForAll()
    }
}

private struct ImportStopped: Error {
    let problem = Problem.unavailable(
        "fetchd stops. The import continues at the next start; repeat the request to get its answer.", retryAfter: 5)
}

/// Jobs that are created in one transaction.
private struct ImportStep: Sendable {
    static let mostJobs = 500
    /// Bytes of the list.
    static let mostBytes = 4 << 20

    /// The entries of the list before the step.
    let begin: Int
    /// The entries of the list up to its end.
    var end: Int
    var jobs: [NewJob] = []
    var bytes = 0

    init(from position: Int) { (begin, end) = (position, position) }
}

/// The entries of a staged list, piece by piece.
private struct ListEntries {
    private let pieces: ListPieces
    private var reader: ListReader
    private var hasEnded = false
    private(set) var bytesOfPiece = 0

    init(_ store: Store, _ id: ImportID, _ request: ImportRequest) async throws {
        pieces = try await store.readList(id)
        reader = ListReader(request.format, base: request.base)
        // The first piece is the request.
        _ = try await pieces.next()
    }

    mutating func next() async throws -> [ListEntry]? {
        guard !hasEnded else { return nil }
        guard let piece = try await pieces.next() else {
            hasEnded = true
            return reader.finish()
        }
        bytesOfPiece = piece.count
        return reader.read(piece)
    }
}
