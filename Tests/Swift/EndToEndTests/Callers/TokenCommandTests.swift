import Formats
import TestKit
import Testing

/// `fetchd token`, and the other commands with the tokens that it makes.
@Suite struct TokenCommandTests {
    @Test func tokenGoesThroughItsLife() async throws {
        let cli = try await CommandLineScene(.init(token: "first"))
        func admin(_ arguments: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                FetchdProcess.program, arguments,
                environment: cli.environment.merging(["FETCHD_TOKEN": "first"]) { $1 },
                workingFolder: cli.folder.path)
        }
        func list(as secret: String) async throws -> ChildProcess.Ending {
            try await cli.run("list", environment: ["FETCHD_TOKEN": secret]).ending
        }
        let created = try await admin(
            "token", "create", "laptop", "--scope", "jobs", "--session", "films*", "--expires", "90d",
            "--max-bytes-per-day", "2Mi", "--json")
        let (id, secret) = (created.json["id"].string ?? "", created.json["token"].string ?? "")
        #expect(created.json["sessions"] == ["films*"] && created.json["expires_at"] != .null)
        #expect(try await list(as: secret) == .exited(0))
        let table = try await admin("token", "list").output
        #expect(table.contains(id) && table.contains("laptop") && !table.contains(secret))
        #expect(table.contains("2.0 MiB a day"), "\(table)")
        let rotated = try await admin("token", "rotate", "laptop", "--quiet").lines
        #expect(rotated.count == 1 && rotated[0].hasPrefix("fetchd_"))
        #expect(try await list(as: secret) == .exited(77))
        #expect(try await list(as: rotated[0]) == .exited(0))
        // Several tokens can have one name.
        let other = try await admin("token", "create", "laptop", "--scope", "read", "--json").json["id"].string ?? ""
        let both = try await admin("token", "revoke", "laptop")
        #expect(both.ending == .exited(64) && both.errors.contains(id) && both.errors.contains(other), "\(both)")
        #expect(try await admin("token", "revoke", id).succeeded)
        #expect(try await admin("token", "revoke", "laptop").output == "\(other) revoked\n")
        #expect(try await list(as: rotated[0]) == .exited(77))
        for gone in [id, "laptop"] {
            #expect(try await admin("token", "revoke", gone).ending == .exited(66), "\(gone)")
        }
    }

    /// Commands read the position of the journal, which a bound token cannot read from the statistics.
    @Test func boundTokenSubmitsAndWaits() async throws {
        let cli = try await CommandLineScene(.init(token: "first"))
        let token = try await cli.api.createToken("sessions", sessions: ["films*"])["token"].string ?? ""
        func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                FetchdProcess.program, arguments,
                environment: cli.environment.merging(["FETCHD_TOKEN": token]) { $1 },
                workingFolder: cli.folder.path)
        }
        #expect(try await run("session", "set", "films-1").succeeded)
        let added = try await run("add", "--wait", "-s", "films-1", cli.url("/file"))
        #expect(added.succeeded, "\(added)")
        let refused = try await run("add", cli.url("/file"))
        #expect(refused.ending == .exited(77))
        #expect(refused.errors.contains("bound to the sessions films*"), "\(refused.errors)")
        #expect(try await run("token", "list").errors.contains("needs the scope admin"))
    }
}
