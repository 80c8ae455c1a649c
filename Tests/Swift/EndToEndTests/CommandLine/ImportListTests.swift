import TestKit
import Testing

/// `fetchd import list` and `fetchd session manifest`.
@Suite struct ImportListTests {
    @Test func importsWithTheCommand() async throws {
        let scene = try await CommandLineScene()
        let path = scene.folder.path + "/list.urls"
        try "\(scene.url("/file"))\n".write(toFile: path, atomically: true, encoding: .utf8)
        for _ in 0..<2 {
            let outcome = try await scene.run("import", "list", path)
            #expect(outcome.succeeded && outcome.output == "1 job added.\n", "\(outcome)")
        }
        let list = "ftp://h/\n\(scene.url("/file"))\n"
        let refused = try await scene.run("import", "list", "--format", "urls", "-", input: list)
        #expect(refused.ending == .exited(65) && refused.errors.contains("Not imported: line 1: "), "\(refused)")
        let kept = try await scene.run("import", "list", "--format", "urls", "--keep-going", "-", input: list)
        #expect(kept.ending == .exited(1) && kept.output == "1 job added, 1 line not imported.\n", "\(kept)")
        let unknown = try await scene.run("import", "list", "unknown.name")
        #expect(unknown.ending == .exited(64))
        _ = try await eventually("both files") {
            try await scene.api.get("/v1/sessions/default").json["counts"]["succeeded"] == 2 ? true : nil
        }
        let manifest = try await scene.run("session", "manifest", "default")
        #expect(manifest.output.split(separator: "\n").count == 2, "\(manifest)")
    }
}
