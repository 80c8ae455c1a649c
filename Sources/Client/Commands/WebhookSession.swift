import ArgumentParser
import Foundation

struct WebhookSession: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The session of the webhook.", valueName: "name"),
        completion: .sessionNames)
    var session = "default"
}
