import HTTPServer
import Locks

/// Keeps pages of the list of jobs until a job changes, because clients poll the first page.
final class JobPages: Sendable {
    private struct Page {
        let version: UInt64
        let response: PreparedResponse
    }

    private let pages = Locked<[String: Page]>([:])

    /// - Parameters:
    ///   - target: of the request.
    ///   - version: the present version of all jobs.
    func page(at target: String, version: UInt64) -> PreparedResponse? {
        pages.withLock { pages in
            guard let page = pages[target], page.version == version else { return nil }
            return page.response
        }
    }

    /// - Parameter version: the version of all jobs from before the page was read.
    func keep(_ response: PreparedResponse, at target: String, version: UInt64) {
        pages.withLock { pages in
            // Pages have up to some megabytes, and older versions are of no use.
            if pages.count >= Self.limit { pages.removeAll() }
            pages[target] = Page(version: version, response: response)
        }
    }

    private static let limit = 16
}
