# An agent that speaks the protocol as far as the tests ask: it deletes a file when it is allowed to, and notes what it reads.
# $1: the file for what it reads. $2: how it goes about it: asks, announces, hurries or dies.
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$1"
  case $line in
  *'"initialize"'*) printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n' ;;
  *'"session/new"'*) printf '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}\r\n' ;;
  *'"session/prompt"'*)
    [ "$2" = dies ] && exit 7
    if [ "$2" = hurries ]; then
      number=0
      while [ $((number += 1)) -le 200 ]; do
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"%s","kind":"execute","status":"completed"}}}\n' "$number"
      done
      exit 0
    fi
    call='"toolCallId":"c","kind":"execute","rawInput":{"command":"rm -f a.txt"}'
    if [ "$2" = asks ]; then
      printf '{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{%s},"options":[]}}\n' "$call"
    else
      printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call",%s}}}\n' "$call"
      sleep 1
      rm -f a.txt
      printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}\n'
      printf '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}\n'
    fi ;;
  *'"id":"p"'*)
    rm -f a.txt
    echo agent > b.txt
    printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}\n'
    printf '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}\n' ;;
  esac
done
