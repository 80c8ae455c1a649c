import Base
import Downloads
import Formats
import Foundation
import HTTPSemantics

/// The lists of digests that jobs name. All jobs of a session share a list: its first reader fetches it, and the others wait.
final class ChecksumFiles: Sendable {
    /// What a list depends on. Jobs that send other headers to its server may get another list.
    struct Key: Hashable, Sendable {
        var session: Name
        var url: String
        var signature: ChecksumSignature?
        var sent: [String]
    }

    final class Entry: Sendable {
        /// One job at a time asks the server.
        let gate = AsyncGate(width: 1)
        let state = Locked(State())
    }

    struct State: Sendable {
        var held: Held?
        /// The failure of the last request, and when it ended. Jobs that have waited for that request share it.
        var failure: (outcome: ChecksumOutcome, at: Duration)?
        fileprivate var lastUsed = Duration.zero
    }

    struct Held: Sendable {
        var list: ChecksumList
        /// In bytes.
        var size: Int
        var etag: String?
        var signature: ListedChecksum.Signature?
        /// When the server was asked, by the uptime of the service.
        var askedAt: Duration
    }

    /// A first attempt accepts a list that was fetched in this time. Later attempts ask the server again.
    static let lifetime = Duration.seconds(300)
    /// In bytes, of all lists together. The list that was not used for the longest time is dropped.
    static let mostBytes = 4 << 20
    static let mostLists = 64

    private let entries = Locked<[Key: Entry]>([:])

    func entry(for key: Key, at now: Duration) -> Entry {
        entries.withLock { entries in
            let entry = entries[key] ?? Entry()
            entry.state.withLock { $0.lastUsed = now }
            entries[key] = entry
            var usage = entries.map { key, entry in
                entry.state.withLock { (key: key, used: $0.lastUsed, size: $0.held?.size ?? 0) }
            }
            usage.sort { $0.used < $1.used }
            var (count, bytes) = (usage.count, usage.reduce(0) { $0 + $1.size })
            for oldest in usage.dropLast() where count > Self.mostLists || bytes > Self.mostBytes {
                entries[oldest.key] = nil
                count -= 1
                bytes -= oldest.size
            }
            return entry
        }
    }
}

enum ChecksumOutcome: Sendable {
    /// - isShared: the server was asked before this attempt needed the list.
    case listed(ListedChecksum, isShared: Bool)
    case failed(Failure, RetryPolicy.Hint)
    case stopped
}

extension Attempt {
    /// Reads what a list of digests says about the file of the job.
    ///
    /// - Parameter mayShare: a list that was fetched a short time ago is good enough.
    func readChecksum(in file: ChecksumFile, mayShare: Bool) async -> ChecksumOutcome {
        let asked = services.time.uptime
        let isHome = URLRule.origin(of: file.url) == URLRule.origin(of: spec.home)
        let sent =
            isHome ? spec.headers.map { "\($0.name): \($0.value)" } + ["\(String(describing: spec.credentials))"] : []
        let entry = services.checksumFiles.entry(
            for: .init(session: job.session, url: file.url, signature: file.signature, sent: sent), at: asked)
        let task = Task {
            try? await entry.gate.pass(for: "") { await self.read(file, entry, since: asked, mayShare: mayShare) }
        }
        let registration = control.register { task.cancel() }
        defer { control.unregister(registration) }
        return await task.value ?? .stopped
    }

    private func read(
        _ file: ChecksumFile, _ entry: ChecksumFiles.Entry, since asked: Duration, mayShare: Bool
    ) async -> ChecksumOutcome {
        let (held, failure) = entry.state.withLock { ($0.held, $0.failure) }
        if let held, held.askedAt >= asked || mayShare && asked - held.askedAt < ChecksumFiles.lifetime {
            return outcome(of: held, file, since: asked)
        }
        if let failure, failure.at >= asked { return failure.outcome }
        let now = services.time.uptime
        switch await fetchDocument(file.url, largest: ChecksumFile.largest, unless: held?.etag) {
        case .unchanged:
            guard var held else { return .stopped }
            held.askedAt = now
            return keep(held, file, entry, since: asked)
        case .received(let document):
            switch await signature(of: document.bytes, file) {
            case .success(let signature):
                let list = ChecksumList(document.bytes, named: file.url.lastURLComponent ?? "")
                let held = ChecksumFiles.Held(
                    list: list, size: document.bytes.count, etag: document.etag, signature: signature, askedAt: now)
                return keep(held, file, entry, since: asked)
            case .failure(let ended): return note(ended.outcome, entry)
            }
        case .tooLarge: return note(.failed(Failure(tooLarge: "checksum file", file.url), .init()), entry)
        case .failed(let loss): return note(ChecksumOutcome(loss, reading: "checksum file", file.url), entry)
        case .stopped: return .stopped
        }
    }

    private struct Ended: Error { var outcome: ChecksumOutcome }

    /// Who has signed the list; nil without a demand for a signature.
    private func signature(of list: [UInt8], _ file: ChecksumFile) async -> Result<ListedChecksum.Signature?, Ended> {
        guard let wanted = file.signature else { return .success(nil) }
        let bytes: [UInt8]
        switch await fetchDocument(wanted.url, largest: ChecksumFile.largest) {
        case .received(let document): bytes = document.bytes
        case .tooLarge: return .failure(Ended(outcome: .failed(Failure(tooLarge: "signature", wanted.url), .init())))
        case .failed(let loss): return .failure(Ended(outcome: ChecksumOutcome(loss, reading: "signature", wanted.url)))
        case .stopped, .unchanged: return .failure(Ended(outcome: .stopped))
        }
        do throws(DetachedSignature.Fault) {
            let signature = try DetachedSignature(bytes, kind: wanted.kind)
            let key = try signature.verify(list, keys: wanted.keys)
            return .success(
                ListedChecksum.Signature(
                    kind: wanted.kind, url: wanted.url, key: key, trustedComment: signature.trustedComment))
        } catch {
            return .failure(Ended(outcome: .failed(Failure(error, wanted), .init())))
        }
    }

    private func keep(
        _ held: ChecksumFiles.Held, _ file: ChecksumFile, _ entry: ChecksumFiles.Entry, since asked: Duration
    ) -> ChecksumOutcome {
        entry.state.withLock { state in
            state.held = held
            state.failure = nil
        }
        return outcome(of: held, file, since: asked)
    }

    private func note(_ outcome: ChecksumOutcome, _ entry: ChecksumFiles.Entry) -> ChecksumOutcome {
        if case .failed = outcome { entry.state.withLock { $0.failure = (outcome, services.time.uptime) } }
        return outcome
    }

    private func outcome(of held: ChecksumFiles.Held, _ file: ChecksumFile, since asked: Duration) -> ChecksumOutcome {
        let name = file.file ?? job.spec.url.lastURLComponent ?? ""
        switch held.list.entry(for: name, isExact: file.file != nil) {
        case .success(let entry):
            let listed = ListedChecksum(
                url: file.url, file: entry.name, checksum: entry.checksum, signature: held.signature)
            return .listed(listed, isShared: held.askedAt < asked)
        case .failure(let fault): return .failed(Failure(fault, name, in: file), .init())
        }
    }
}

extension ChecksumOutcome {
    /// The job repeats the request as it repeats those for its file. An address that the service refuses stays refused.
    fileprivate init(_ loss: ConnectionLoss, reading what: String, _ url: String) {
        var (failure, hint) = (loss.failure, loss.hint)
        if failure.code != .blockedAddress, failure.code != .badURL {
            failure.code = .checksumUnavailable
            hint.mayPass = true
        }
        failure.message = "The \(what) \(URLRule.redacted(url)) cannot be read. \(failure.message)"
        self = .failed(failure, hint)
    }
}

extension Failure {
    fileprivate init(tooLarge what: String, _ url: String) {
        self.init(
            .checksumUnavailable,
            "The \(what) \(URLRule.redacted(url)) is larger than \(ChecksumFile.largest) bytes.")
    }

    fileprivate init(_ fault: ChecksumList.Fault, _ name: String, in file: ChecksumFile) {
        let place = "The checksum file \(URLRule.redacted(file.url))"
        let message =
            switch fault {
            case .notListed:
                "\(place) has no usable digest of \(Self.quoted(name)): name the file with `checksum.file`."
            case .ambiguous:
                "\(place) has several digests of \(Self.quoted(name)): name one of the files with `checksum.file`."
            case .unsupported(let algorithm): "\(place) has digests of \(algorithm), which fetchd does not compute."
            }
        self.init(.checksumUnavailable, message)
    }

    private static func quoted(_ name: String) -> String { name.isEmpty ? "a URL without a file name" : "'\(name)'" }

    fileprivate init(_ fault: DetachedSignature.Fault, _ wanted: ChecksumSignature) {
        let place = "The signature \(URLRule.redacted(wanted.url))"
        let message =
            switch fault {
            case .malformed: "\(place) is no signature of \(wanted.kind.rawValue)."
            case .unknownKey(let id):
                "\(place) is of the key \(id), which is none of the job's `checksum.signature.keys`."
            case .wrong: "\(place) is not that of the checksum file."
            }
        self.init(.signatureInvalid, message)
    }
}
