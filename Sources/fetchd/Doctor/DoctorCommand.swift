import ArgumentParser
import Client
import Configuration
import Formats

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor", "Looks for faults of the service, its folders and its machine.",
        discussion: """
            The command checks the database, the files of unfinished downloads, the key, the folders and their permissions, \
            free space, limits, the clock, the rules for addresses, and whether the hosts of webhooks answer. For each \
            finding it says what to do. It changes nothing, and the service may run meanwhile. Run it as the user of the \
            service, with the settings of the service: its environment, or --config.

            A finding is ok, a warning, an error, or skipped: the command could not look at something, for example because \
            a folder does not exist.

            EXIT STATUS:
              0    no error was found; there may be warnings, and checks that were skipped
              1    at least one error was found
            """,
        examples: "doctor --data-dir /var/lib/fetchd/data --downloads-dir /var/lib/fetchd/downloads",
        "doctor --no-webhooks --json")

    @OptionGroup var data: DataFolderOptions

    @Option(
        "The folder for downloaded files; also FETCHD_DOWNLOADS_DIR or --config. (default: \(Setting.defaultText(.downloadsDir)))",
        "dir")
    var downloadsDir: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask the hosts of webhooks whether they answer. Only addresses that the service may reach are asked.")
    var webhooks = true

    @Flag(help: "Check every page, constraint and reference of the database, which takes about as long as a backup.")
    var thorough = false

    @Flag(help: "Print one JSON document.") var json = false

    func run() async throws {
        CoreDumps.disable()
        let results: [CheckResult]
        do {
            let flags = SettingsSources.flags([.dataDir: data.dataDir, .downloadsDir: downloadsDir])
            let settings = try ServiceSettings(flags: flags, configFile: data.config)
            results = await DoctorReport(on: settings, thoroughly: thorough, asksWebhooks: webhooks).results
        } catch {
            let remedy = "The service does not start with these settings."
            results = [CheckResult(level: .error, subject: .configuration, message: "\(error)", remedy: remedy)]
        }
        let (skipped, warnings) = (results.count { $0.level == .skipped }, results.count { $0.level == .warning })
        let errors = results.count { $0.level == .error }
        if json {
            let document: JSON = [
                "findings": .array(results.map(\.json)), "skipped": .count(skipped), "warnings": .count(warnings),
                "errors": .count(errors),
            ]
            print(document.written)
        } else {
            for line in results.flatMap(\.lines) { print(line) }
            let sum = "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")"
            print(sum + (skipped == 0 ? "." : ", \(skipped) skipped."))
        }
        if errors > 0 { throw ExitCode.failure }
    }
}
