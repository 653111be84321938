#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/error.h"
#include "attune/data/documents.h"
#include "attune/tasks/generate.h"
#include "attune/text/chat_template.h"

namespace attune {

/// A conversation leaves no room for an answer.
class ConversationFull : public Error {
 public:
  using Error::Error;
};

/// A conversation that waits for an answer.
struct AskedConversation {
  ChatInput input;
  std::string where;  // names it in errors: "line 3"
};

/// Throws Error unless tools are a list of {"type": "function", "function": {"name": ...}}, documents a list of
/// objects, and variables an object without the names that a conversation sets itself. null is nothing given.
void check_given(const ChatInput& input);
/// Throws Error that does not name the conversation where answer_conversations() would refuse it.
void check_conversation(const Bundle& bundle, const ChatTemplate& chat, const ChatInput& input);

/// The model's answers to conversations, each written as its template has it and all decoded together. A prompt's
/// tokens are those of the template's text alone: the tokenizer adds none around it. An answer ends at the end tokens
/// of the model's files and at the tokenizer's eos_token; it is decoded alone, without special tokens. At most 1,024
/// tokens are written where neither the options nor the model's files say how many. Throws Error as the template and
/// generate_texts() do; as check_given() does; for tools and documents that the template never names; where a
/// conversation leaves no room for an answer, with both numbers of tokens.
std::vector<GeneratedText> answer_conversations(const Bundle& bundle, const ChatTemplate& chat,
                                                std::span<const AskedConversation> conversations,
                                                const TextGeneration& options, const Run& run);

/// A conversation that goes on. What was said stays in the model's cache, so that a turn reads what is new in it alone
/// (from 64 tokens in common on); families of attention that keep states in place of a cache read all of it again. An
/// answer is the one that answer_conversations() gives for the same messages, with the same bits.
class Conversation {
 public:
  /// `beginning`: the messages that it begins with (a system prompt; null or an empty list for none), tools and the
  /// rest. The bundle must outlive it. Throws Error where the messages are no list, and for what is given besides as
  /// answer_conversations() does.
  Conversation(const Bundle& bundle, ChatTemplate chat, ChatInput beginning, TextGeneration options);

  /// Says it as the user; ConversationFull where no room is left. The sink is told the answer piece by piece, never
  /// half a character. Message and answer join the conversation. An Error leaves it as it was; Cancelled, too, unless
  /// some of an answer was written: that stays.
  GeneratedText say(std::string_view text, const Run& run, const std::function<void(std::string_view)>& sink = {});
  /// Forgets all but the beginning.
  void restart() { messages_ = beginning_.messages; }
  /// All that was said, the beginning too.
  const Json& messages() const { return *messages_; }
  /// Tokens that the last answer's prompt had in common with what was in the cache, and so were not read.
  std::int64_t tokens_shared() const { return kept_->tokens_shared(); }
  /// Tokens of a conversation, its last answer included; 0: no bound but memory.
  std::int64_t longest() const { return longest_sequence(bundle_); }

 private:
  const Bundle& bundle_;
  ChatTemplate chat_;
  ChatInput beginning_;
  TextGeneration options_;
  JsonValue messages_;
  std::unique_ptr<KeptTexts> kept_;
};

/// How a file of conversations is read: "messages" is a list, or one text that the user says.
DocumentFormat conversation_format();
/// What a record of it asks, over what all have in common: messages; tools, documents and variables, where it has them;
/// a system message of `common` goes before the messages unless they begin with their own. `messages` is the name of
/// the member that holds them. Throws Error that does not name the line, also for members of other names and as
/// check_given() does.
AskedConversation conversation_of(const Document& document, const ChatInput& common,
                                  const std::string& messages = "messages");

}  // namespace attune
