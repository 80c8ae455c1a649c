import Downloads
import HTTPServer

/// Everything that is kept of replies about jobs, for each audience separately. A caller reads only replies that were
/// made for its audience, and of jobs that it may see.
struct KeptJobReplies: Sendable {
    let pages: JobPages
    let waitReplies: ReplyCache<JobWait.Key>
    private let clientRenderings = JobRenderings()
    private let journalRenderings = JobRenderings()
    private let clientDocuments = JobDocuments()
    private let journalDocuments = JobDocuments()

    init(_ answers: AnswerBudget) { (pages, waitReplies) = (JobPages(answers), ReplyCache(answers)) }

    func renderings(for audience: Job.Audience) -> JobRenderings {
        switch audience {
        case .client: clientRenderings
        case .journal: journalRenderings
        }
    }

    func documents(for audience: Job.Audience) -> JobDocuments {
        switch audience {
        case .client: clientDocuments
        case .journal: journalDocuments
        }
    }
}
