import Formats
import TestKit

extension APIClient {
    /// A list from its first page to its last, each fetched with the previous page's cursor.
    func pages(of name: String, at path: String, limit: Int) async throws -> [[JSON]] {
        var (pages, cursor): ([[JSON]], String?) = ([], nil)
        repeat {
            let separator = path.contains("?") ? "&" : "?"
            let answer = try await get("\(path)\(separator)limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? ""))
            guard answer.status == 200 else { throw Overdue("a page of \(path): \(answer)") }
            pages.append(answer.json[name].arrayValue ?? [])
            cursor = answer.json["next_cursor"].string
        } while cursor != nil
        return pages
    }
}
