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
    }

    private let pages = Locked<[Key: Page]>([:])

    /// - Parameter version: the present version of all jobs.
    func page(at key: Key, version: UInt64) -> PreparedResponse? {
        pages.withLock { pages in
            guard let page = pages[key], page.version == version else { return nil }
            return page.response
        }
    }

    /// - Parameter version: the version of all jobs from before the page was read.
    func keep(_ response: PreparedResponse, at key: Key, version: UInt64) {
        pages.withLock { pages in
            // Pages have up to some megabytes, and older versions are of no use.
            if pages.count >= Self.limit { pages.removeAll() }
            pages[key] = Page(version: version, response: response)
        }
    }

    private static let limit = 16
}
