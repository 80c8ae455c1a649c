import Base
import Downloads
import Formats
import HTTPServer
import HTTPTypes
import Operations
import Storage

struct JobView {
    let job: Job
    let live: LiveProgress?
    /// nil if it was not asked for.
    let queue: QueueEntry?
    let audience: Job.Audience

    init(_ job: Job, _ jobs: Jobs, queue: QueueEntry? = nil, for audience: Job.Audience) {
        (self.job, live, self.queue, self.audience) = (job, jobs.progress(of: job), queue, audience)
    }

    var tag: JobETag { JobETag(job, live: live, queue: queue) }

    var document: [UInt8] {
        var writer = JSONWriter()
        writeDocument(to: &writer)
        return writer.bytes
    }

    func writeDocument(to writer: inout JSONWriter) {
        job.writeDocument(for: audience, live: live, queue: queue, to: &writer)
    }

    var response: Response {
        var writer = JSONWriter()
        writeDocument(to: &writer)
        return .json(writer, headers: [.eTag: tag.text])
    }

    fileprivate func response(_ variant: JobResponseCache.Variant) -> Response {
        var response =
            variant.isModified ? response : Response(status: .notModified, headers: [.eTag: tag.text])
        if let seconds = variant.wait { response.headers[.preferenceApplied] = "wait=\(seconds)" }
        return response
    }
}

/// Keeps the responses about jobs, for each job and each audience those of one version, because such a response is often
/// requested again: by polls, by pages of the list, and by the many clients that one change wakes. It also keeps pages of the
/// list until a job changes.
///
/// A caller gets only responses that were made for its audience, and about jobs that it may see. Both are bounded; when they
/// are full, starting again costs less than keeping them in the order of their use.
final class JobResponseCache: Sendable {
    struct Variant: Hashable, Sendable {
        let isModified: Bool
        /// The seconds of the wait that the response ends; nil: the client does not wait.
        var wait: Int?
    }

    fileprivate struct Key: Hashable {
        let job: JobID
        let audience: Job.Audience
    }

    /// The kept responses of one version of a job. An ETag determines the document of each audience.
    fileprivate struct Entry {
        let tag: JobETag
        /// When a request has shown that it is current.
        var checkedAt = ContinuousClock.now
        var size = 0
        var document: [UInt8]?
        var current: PreparedResponse?
        var notModified: PreparedResponse?
        var waits: [Variant: PreparedResponse] = [:]

        subscript(variant: Variant) -> PreparedResponse? {
            get { variant.wait != nil ? waits[variant] : variant.isModified ? current : notModified }
            set {
                if variant.wait != nil {
                    waits[variant] = newValue
                } else if variant.isModified {
                    current = newValue
                } else {
                    notModified = newValue
                }
            }
        }
    }

    struct PageKey: Hashable, Sendable {
        let target: String
        let isGzip: Bool
        let visible: VisibleSessions
        let audience: Job.Audience
    }

    private struct Page {
        let version: UInt64
        let madeAt: ContinuousClock.Instant
        let hasQueued: Bool
        let response: PreparedResponse
        let size: Int
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        var size = 0
    }

    private let state = Locked(State())
    private let pages = Locked<[PageKey: Page]>([:])
    private let answers: ResponseBudget

    init(_ answers: ResponseBudget) { self.answers = answers }

    var count: Int { state.withLock { $0.entries.count } }

    /// The kept response to a client that does not wait. Most polls need no more than this, and no copy of the job.
    func kept(of cached: CachedJob, for audience: Job.Audience, knowing versions: IfNoneMatch?) -> PreparedResponse? {
        let key = Key(job: cached.job.id, audience: audience)
        return state.withLock { state in
            guard let entry = state.entries[key], entry.tag.revision == cached.job.revision,
                cached.job.state != .queued || Self.isFresh(entry.checkedAt)
            else { return nil }
            return versions?.matches(entry.tag) == true ? entry.notModified : entry.current
        }
    }

    /// The response about a job. That of a running job is kept for waiting clients only: its progress changes all the time.
    func response(_ view: JobView, _ variant: Variant) -> CachedResponse {
        guard view.job.state.name != .running || variant.wait != nil else { return .response(view.response(variant)) }
        let (key, tag) = (Key(job: view.job.id, audience: view.audience), view.tag)
        let known = state.withLock { state in
            guard state.entries[key]?.tag == tag else { return nil as PreparedResponse? }
            if view.job.state == .queued { state.entries[key]?.checkedAt = .now }
            return state.entries[key]?[variant]
        }
        if let known { return .prepared(known) }
        let response = view.response(variant)
        guard let prepared = answers.prepared(response) else { return .response(response) }
        state.withLock { $0.keep(at: key, tag, bytes: response.body.knownLength ?? 0) { $0[variant] = prepared } }
        return .prepared(prepared)
    }

    /// The documents of jobs, in their order. Pages have the same jobs again and again.
    /// - Parameter make: called without the lock held, for the jobs that run or have another version than the kept one.
    func documents(of jobs: [CachedJob], for audience: Job.Audience, make: (Job) -> [UInt8]) -> [[UInt8]] {
        let known = state.withLock { state in
            jobs.map { cached in
                state.entries[Key(job: cached.job.id, audience: audience)]
                    .flatMap { $0.tag.revision == cached.job.revision ? $0.document : nil }
            }
        }
        var made: [(job: Job, document: [UInt8])] = []
        let documents = zip(jobs, known).map { cached, known in
            if let known { return known }
            let document = make(cached.job)
            // The progress of a running job and the place of a queued one change without a commit.
            if ![.running, .queued].contains(cached.job.state.name) { made.append((cached.job, document)) }
            return document
        }
        if !made.isEmpty {
            state.withLock { state in
                for (job, document) in made {
                    let key = Key(job: job.id, audience: audience)
                    state.keep(at: key, JobETag(job, live: nil), bytes: document.count) { $0.document = document }
                }
            }
        }
        return documents
    }

    func page(at key: PageKey, version: UInt64) -> PreparedResponse? {
        pages.withLock { pages in
            guard let page = pages[key], page.version == version, !page.hasQueued || Self.isFresh(page.madeAt) else {
                return nil
            }
            return page.response
        }
    }

    /// - Parameter hasQueued: whether the page has jobs whose places in the queue change without a commit.
    func keep(_ response: Response, at key: PageKey, version: UInt64, hasQueued: Bool) {
        guard case .bytes(let bytes) = response.body, bytes.count <= Self.largestPage,
            let prepared = answers.prepared(response)
        else { return }
        pages.withLock { pages in
            let size = pages.values.reduce(bytes.count) { $0 + $1.size }
            if pages.count >= Self.mostPages || size > Self.mostBytesOfPages { pages.removeAll() }
            pages[key] = Page(
                version: version, madeAt: .now, hasQueued: hasQueued, response: prepared, size: bytes.count)
        }
    }

    /// Why a queued job waits can change at any time, so a response that says it is kept for half a second.
    private static func isFresh(_ madeAt: ContinuousClock.Instant) -> Bool { madeAt.duration(to: .now) < .seconds(0.5) }

    fileprivate static let mostVersions = 4_096
    fileprivate static let mostBytes = 16 << 20
    private static let mostPages = 16
    private static let largestPage = 2 << 20
    private static let mostBytesOfPages = 8 << 20
}

extension JobResponseCache.State {
    fileprivate mutating func keep(
        at key: JobResponseCache.Key, _ tag: JobETag, bytes: Int, _ change: (inout JobResponseCache.Entry) -> Void
    ) {
        let present = entries[key]
        var entry = present.flatMap { $0.tag == tag ? $0 : nil } ?? JobResponseCache.Entry(tag: tag)
        size -= present?.size ?? 0
        let isFull = present == nil && entries.count >= JobResponseCache.mostVersions
        if isFull || size + entry.size + bytes > JobResponseCache.mostBytes { self = JobResponseCache.State() }
        change(&entry)
        entry.size += bytes
        size += entry.size
        entries[key] = entry
    }
}

/// A response, or one that is kept in the form of the library for many clients.
enum CachedResponse: Sendable {
    case response(Response)
    case prepared(PreparedResponse)

    var value: Response {
        switch self {
        case .response(let response): response
        case .prepared(let prepared): prepared.response
        }
    }
}

extension Answer {
    init(_ response: CachedResponse) {
        switch response {
        case .response(let response): self = .now(response)
        case .prepared(let prepared): self = .prepared(prepared)
        }
    }
}

extension DeferredResponse {
    func settle(with response: CachedResponse) {
        switch response {
        case .response(let response): settle(with: response)
        case .prepared(let prepared): settle(with: prepared)
        }
    }
}

extension ResponseBudget {
    /// The response in the form that is kept for many clients. It counts as long as it is kept, or sent to one of them.
    ///
    /// - Returns: nil if there is no memory for it. Then each client gets a response of its own, which counts for its caller.
    func prepared(_ response: Response) -> PreparedResponse? {
        guard case .bytes(let bytes) = response.body else { return PreparedResponse(response) }
        let memory = share(of: "kept responses")
        // Once as a value, and once in the form of the library.
        guard memory.resize(to: 2 * bytes.count) else { return nil }
        var response = response
        response.memory = memory
        return PreparedResponse(response)
    }
}
