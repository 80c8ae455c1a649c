import Downloads
import HTTPServer
import Locks

/// Keeps pages of the list of jobs until a job changes, because clients poll the first page.
final class JobPages: Sendable {
    /// Determines a page of one version.
    struct Key: Hashable, Sendable {
        /// Of the request.
        let target: String
        let visible: VisibleSessions
        let audience: Job.Audience
    }

    private struct Page {
        let version: UInt64
        let response: PreparedResponse
        let size: Int
    }

    private let pages = Locked<[Key: Page]>([:])
    private let answers: AnswerBudget

    init(_ answers: AnswerBudget) { self.answers = answers }

    /// - Parameter version: the present version of all jobs.
    func page(at key: Key, version: UInt64) -> PreparedResponse? {
        pages.withLock { pages in
            guard let page = pages[key], page.version == version else { return nil }
            return page.response
        }
    }

    /// - Parameter version: the version of all jobs from before the page was read.
    func keep(_ response: Response, at key: Key, version: UInt64) {
        guard case .bytes(let bytes) = response.body, bytes.count <= Self.largestPage,
            let prepared = answers.prepared(response)
        else { return }
        pages.withLock { pages in
            // Older versions are of no use.
            let size = pages.values.reduce(bytes.count) { $0 + $1.size }
            if pages.count >= Self.limit || size > Self.mostBytes { pages.removeAll() }
            pages[key] = Page(version: version, response: prepared, size: bytes.count)
        }
    }

    private static let limit = 16
    private static let largestPage = 2 << 20
    private static let mostBytes = 8 << 20
}
