import TestKit
import Testing

/// The setting `store`, without a server.
@Suite struct PostgresSettingTests {
    @Test func showsTheAddressWithoutItsPassword() async throws {
        let environment = ["FETCHD_STORE": "postgres://fetchd:s3cret@127.0.0.1:1/jobs"]
        let shown = try await FetchdProcess.run(["doctor"], environment: environment)
        #expect(!shown.succeeded && shown.output.contains("The PostgreSQL server cannot be used now"), "\(shown)")
        #expect(!(shown.output + shown.errors).contains("s3cret"))
    }

    @Test(arguments: ["mysql://db/fetchd", "postgres://db/fetchd?colour=red", "/var/lib/fetchd.sqlite", ""])
    func refusesWhatIsNoAddress(_ store: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--store", store])
        #expect(outcome.ending == .exited(64), "\(outcome)")
        #expect(outcome.errors.contains("store is not the address of a database"), "\(outcome)")
    }

    /// libpq would take the rest of the password for the host.
    @Test func refusesAnUnencodedPasswordWithoutShowingIt() async throws {
        let environment = ["FETCHD_STORE": "postgres://fetchd:top@s3cret@db/jobs"]
        for command in [["config", "show"], ["serve"], ["doctor"]] {
            let outcome = try await FetchdProcess.run(command, environment: environment)
            #expect(!outcome.succeeded && (outcome.output + outcome.errors).contains("encoded, as %40"), "\(outcome)")
            #expect(!(outcome.output + outcome.errors).contains("s3cret"), "\(outcome)")
        }
    }

    @Test(arguments: ["http://10.0.0.7:8080 ", "http://10.0.0.7 :8080", "http://10.0.0.7:8080 http://10.0.0.8:8080"])
    func refusesANodeAddressWithASpace(_ url: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--node-url", url])
        #expect(outcome.ending == .exited(64), "\(outcome)")
        #expect(outcome.errors.contains("node_url is '\(url)'"), "\(outcome)")
    }

    @Test(arguments: [("both", "it must be local or shared"), ("shared", "Set --store, too")])
    func refusesASharedFolderWithoutADatabaseOfAllServices(_ sharing: String, _ reason: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--downloads", sharing])
        #expect(outcome.ending == .exited(64), "\(outcome)")
        #expect(outcome.errors.contains("downloads is '\(sharing)'"), "\(outcome)")
        #expect(outcome.errors.contains(reason), "\(outcome)")
    }

    @Test(arguments: [["backup", "copy.sqlite"], ["compact"], ["restore", "copy.sqlite"], ["export"]])
    func commandsForSQLiteRefuseAnotherStore(_ command: [String]) async throws {
        let outcome = try await FetchdProcess.run(
            command, environment: ["FETCHD_STORE": "postgres://fetchd:s3cret@db/jobs"])
        #expect(!outcome.succeeded)
        #expect(outcome.errors.contains("The jobs are in postgres://fetchd@db:5432/jobs"), "\(outcome)")
        #expect(!outcome.errors.contains("s3cret"))
    }
}
