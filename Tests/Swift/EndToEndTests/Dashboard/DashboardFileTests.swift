import Configuration
import Downloads
import Foundation
import TestKit
import Testing

/// The dashboard's files as the service serves them.
@Suite struct DashboardFileTests {
    private static let folder = Project.root.appending(path: "Sources/API/Dashboard")
    /// Without the types that only tsc reads.
    private static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0 != "types.d.ts" }.sorted()

    private static let client = Project.root.appending(path: "clients/javascript/fetchd.js")

    /// The folder of the files, as the page names it.
    private func folder(_ client: APIClient) async throws -> String {
        let page = String(decoding: try await client.get("/").body, as: UTF8.self)
        let version = try #require(page.firstMatch(of: /src="dashboard\/([0-9a-f]{16})\/main.js"/)?.1)
        return "/dashboard/\(version)/"
    }

    /// Every file in the folder is served unchanged, for good, and under a policy that allows nothing from other origins.
    @Test func servesEveryDashboardFileWithContentSecurityPolicy() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        let types = [
            "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
            "js": "text/javascript; charset=utf-8",
            "svg": "image/svg+xml",
        ]
        #expect(Self.files.count > 10)
        let folder = try await folder(stranger)
        for file in Self.files {
            let answer = try await stranger.get(file == "index.html" ? "/" : folder + file)
            #expect(answer.status == 200, "\(file)")
            if file != "index.html" {
                let source = try Data(contentsOf: Self.folder.appending(path: file))
                #expect(Data(answer.body) == source, "\(file) is another one")
            }
            #expect(
                answer.header("Cache-Control")
                    == (file == "index.html" ? "no-cache" : "public, max-age=31536000, immutable"))
            #expect(answer.header("Content-Type") == types[String(file.split(separator: ".").last ?? "")], "\(file)")
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
            #expect(answer.header("Referrer-Policy") == "no-referrer")
            #expect(
                answer.header("Content-Security-Policy")
                    == "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        }
    }

    @Test func answers304ForCachedDashboardFile() async throws {
        let scene = try await Scene()
        for path in ["/", try await folder(scene.api) + "main.js", "/client.js"] {
            var tags: [String] = []
            for coding in ["identity", "gzip"] {
                let tag = try #require(
                    try await scene.api.get(path, headers: [("Accept-Encoding", coding)]).header("ETag"))
                let answer = try await scene.api.get(
                    path, headers: [("If-None-Match", tag), ("Accept-Encoding", coding)])
                #expect(answer.status == 304)
                #expect(answer.body.isEmpty)
                #expect(answer.header("ETag") == tag)
                #expect(answer.header("Vary") == "Accept-Encoding")
                let other = [("If-None-Match", "\"other\""), ("Accept-Encoding", coding)]
                #expect(try await scene.api.get(path, headers: other).status == 200)
                tags.append(tag)
            }
            #expect(Set(tags).count == 2)
        }
    }

    /// The page names the files of its version, and each of its modules, so that a browser loads them at once.
    @Test func thePageNamesItsModules() async throws {
        let scene = try await Scene()
        let page = String(decoding: try await scene.api.get("/").body, as: UTF8.self)
        let folder = try await folder(scene.api).dropFirst()
        let preloaded = page.matches(of: /<link rel="modulepreload" href="([^"]+)">/).map { String($0.1) }
        #expect(preloaded == Self.files.filter { $0.hasSuffix(".js") }.map { folder + $0 })
        for match in page.matches(of: /(?:src|href)="(dashboard\/[^"]+)"/) { #expect(match.1.hasPrefix(folder)) }
    }

    @Test(arguments: [
        "V/stranger.js", "V/index.html", "V/..%2FFront.swift", "V/", "main.js", "0f1e2d3c4b5a6978/main.js", "",
    ])
    func answers404ForUnknownDashboardFile(_ path: String) async throws {
        let scene = try await Scene()
        let folder = try await folder(scene.api)
        let answer = try await scene.api.get(path.hasPrefix("V/") ? folder + path.dropFirst(2) : "/dashboard/" + path)
        #expect(answer.status == 404)
        #expect(answer.problem == .init(kind: "not-found"))
    }

    /// A page of any origin may load the module; what it may do then, the rules for other origins say.
    @Test(arguments: [.only([]), .only([WebOrigin("http://localhost:9000")!]), .any] as [AllowedOrigins])
    func servesTheClientToEveryPage(_ allowed: AllowedOrigins) async throws {
        let scene = try await Scene(.init(token: "correct") { $0.start.values.allowedOrigins = allowed })
        let stranger = APIClient(baseURL: scene.fetchd.baseURL)
        for origin in ["http://localhost:9000", "https://other.example"] {
            let answer = try await stranger.get(
                "/client.js", headers: [("Origin", origin), ("Sec-Fetch-Site", "cross-site")])
            #expect(answer.status == 200)
            #expect(Data(answer.body) == (try Data(contentsOf: Self.client)))
            #expect(answer.header("Content-Type") == "text/javascript; charset=utf-8")
            #expect(
                answer.headers.filter { $0.name.lowercased() == "access-control-allow-origin" }.map(\.value) == ["*"])
            #expect(answer.header("Cross-Origin-Resource-Policy") == "cross-origin")
        }
    }

    /// The policy forbids inline and foreign scripts, and no script turns text into markup.
    @Test func dashboardFilesUseNothingThatThePolicyForbids() throws {
        for file in Self.files {
            let source = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            for forbidden in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", " style=\"",
                " onclick=\"",
                "localStorage", "//cdn", "<script>",
            ] where (file, forbidden) != ("theme.js", "localStorage") {
                #expect(!source.contains(forbidden), "\(file) has \(forbidden)")
            }
        }
    }

    /// Every import exists: a browser would stop at the first that does not.
    @Test func dashboardImportsAreExportedAndUsed() throws {
        for file in Self.files where file.hasSuffix(".js") {
            let source = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            for match in source.matches(of: /import \{ ([^}]+) \} from "([^"]+)"/) {
                let path = Self.folder.appending(path: String(match.2))
                let exporter = try String(contentsOf: path, encoding: .utf8)
                let rest = source.replacing(match.0, with: "")
                for name in match.1.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                    let exported = try Regex("export (async )?(function|class|const|let) \(name)\\b")
                    #expect(exporter.contains(exported), "\(match.2) does not export \(name)")
                    #expect(
                        rest.contains(try Regex("\\b\(name)\\b").wordBoundaryKind(.simple)),
                        "\(file) does not use \(name)")
                }
            }
        }
    }

    /// Every state, reason, failure code and event type has a sentence.
    @Test func dashboardDescribesEveryCode() throws {
        let words = try String(contentsOf: Self.folder.appending(path: "words.js"), encoding: .utf8)
        let codes =
            Failure.Code.allCases.map(\.rawValue) + JobState.Kind.allCases.map(\.rawValue)
            + ResumeOutcome.RestartReason.allCases.map(\.rawValue) + Delivery.State.Kind.allCases.map(\.rawValue)
        for code in codes {
            #expect(words.contains(try Regex("\\b\(code): \"")), "words.js has none for \(code)")
        }
        for reason in Wait.Kind.allCases { #expect(words.contains("case \"\(reason.rawValue)\": return")) }
        for type in EventType.allCases { #expect(words.contains("\"\(type.rawValue)\": \"")) }
    }
}
