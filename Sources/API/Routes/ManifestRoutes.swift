import Downloads
import Formats
import Foundation
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Operations
import Storage

/// `/v1/sessions/{session}/manifest`: the finished files of a session as a list, the newest first. A file that was removed or
/// replaced is left out.
struct ManifestRoutes: Sendable {
    let jobs: Jobs
    let sessions: Sessions
    /// nil: this service has all files.
    let remote: RemoteFiles?

    var routes: [Route] {
        [
            Route(
                .get, "/v1/sessions/{session}/manifest", .scope(.read, of: .session), readsQuery: true, isLarge: true,
                manifest)
        ]
    }

    private func manifest(_ context: RequestContext) async throws -> Response {
        let (format, location) = try context.query { query throws(Problem) in
            let format = try query.choice("format", of: ManifestFormat.self) ?? .sha256sum
            return (format, try query.name("location"))
        }
        let session = try await sessions.status(of: try context.name("session")).session.id
        let manifest = Manifest(format: format, audience: context.caller.audience)
        let first = try await page(of: session, in: location, before: nil)
        let stream = ResponseStream(bufferLimit: Self.bufferBytes)
        Task {
            do {
                var (page, head) = (first, manifest.head)
                while true {
                    for piece in manifest.pieces(of: page.files, after: head) {
                        guard await stream.room(for: piece.count), stream.write(piece) else { return }
                    }
                    guard let next = page.next else { return stream.finish() }
                    (page, head) = (try await self.page(of: session, in: location, before: next), [])
                }
            } catch {
                stream.fail()
            }
        }
        return Response(status: .ok, headers: [.contentType: format.mediaType], body: .stream(stream))
    }

    /// - Returns: the jobs whose files are there, and the position of the next page.
    ///
    /// - Parameter location: only files there; nil: in all locations.
    private func page(
        of session: Name, in location: Name?, before: JobID?
    ) async throws -> (files: [Job], next: JobID?) {
        // The cursor of the first page keeps the jobs from the cache, which others need more.
        let page = try await jobs.page(
            JobQuery(session: session, state: .succeeded, limit: Self.jobsAtOnce, before: before ?? JobID("~")))
        let listed = page.jobs.filter { job in
            location.map { $0 == job.state.finish?.file.location ?? .default } ?? true
        }
        let local = listed.filter { remote?.owner($0) == nil }
        let missing = try await jobs.missing(of: local.compactMap { $0.state.finish?.file })
        let gone = Set(missing.map { local[$0].id })
        return (listed.filter { !gone.contains($0.id) }, page.next)
    }

    private static let jobsAtOnce = 1_000
    private static let bufferBytes = 256 << 10
}

enum ManifestFormat: String, CaseIterable {
    /// For `sha256sum --check` in the folder of a location.
    case sha256sum
    /// The columns are those of an import.
    case tsv

    var mediaType: String {
        switch self {
        case .sha256sum: "text/plain; charset=utf-8"
        case .tsv: "text/tab-separated-values; charset=utf-8"
        }
    }
}

/// The lines of a manifest.
struct Manifest: Sendable {
    let format: ManifestFormat
    let audience: Job.Audience

    var head: [UInt8] { format == .tsv ? Array("path\tsize\tsha256\turl\n".utf8) : [] }

    /// Lines in pieces, each small enough for the buffer of a response.
    func pieces(of jobs: [Job], after head: [UInt8]) -> [[UInt8]] {
        var pieces = [head]
        for job in jobs {
            guard let file = job.state.finish?.file else { continue }
            let line = line(file, job)
            if pieces[pieces.count - 1].count + line.count > Self.pieceBytes { pieces.append([]) }
            pieces[pieces.count - 1] += line
        }
        return pieces.filter { !$0.isEmpty }
    }

    private func line(_ file: FinishedFile, _ job: Job) -> [UInt8] {
        switch format {
        case .sha256sum:
            guard let digest = file.sha256 else { return Array("# \(Self.escaped(file.path)) has no digest\n".utf8) }
            let escaped = Self.escaped(file.path)
            // GNU coreutils mark a line with escapes by a backslash.
            return Array("\(escaped == file.path ? "" : "\\")\(digest)  \(escaped)\n".utf8)
        case .tsv:
            let url = audience == .full ? job.spec.url : URLRule.redacted(job.spec.url)
            let cells = [file.path, "\(file.size)", file.sha256 ?? "", url]
            return Array((cells.map(Self.cell).joined(separator: "\t") + "\n").utf8)
        }
    }

    private static func escaped(_ path: String) -> String {
        path.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    }

    /// The format has no escapes. A tab or a line end in a name becomes a blank.
    private static func cell(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { ["\t", "\n", "\r"].contains($0) ? " " : $0 }))
    }

    private static let pieceBytes = 128 << 10
}
